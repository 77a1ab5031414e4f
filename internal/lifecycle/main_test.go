package lifecycle

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/project"
)

// TestMain is docker where the test binary was started by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "docker" {
		os.Exit(fakeDocker())
	}
	goleak.VerifyTestMain(m)
}

// fakeDocker does what DO says: text to print, a number of MiB to write, an exit code, or
// to wait for a signal.
func fakeDocker() int {
	kind, arg, _ := strings.Cut(os.Getenv("DO"), ":")
	switch kind {
	case "print":
		fmt.Print(arg)
	case "flood":
		n, _ := strconv.Atoi(arg)
		block := make([]byte, 1<<20)
		for range n {
			if _, err := os.Stdout.Write(block); err != nil {
				return 9
			}
		}
	case "code":
		n, _ := strconv.Atoi(arg)
		return n
	case "wait":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("ready")
		<-signals
		return 7
	case "die":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	return 0
}

// dockerContext is a context whose docker does what do says, in an empty folder with a
// registry of its own.
func dockerContext(t *testing.T, do string) project.Context {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(bin, "docker")); err != nil {
		t.Fatal(err)
	}
	return testContext(t, "PATH="+bin, "DO="+do)
}

func testContext(t *testing.T, env ...string) project.Context {
	t.Helper()
	c, err := project.NewContext(t.TempDir(), append(env, "HACK_HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compose makes a registered project of a name with a compose file.
func compose(t *testing.T, c project.Context, name, text string) project.Project {
	t.Helper()
	dir := filepath.Join(c.Cwd, name, ".hack")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docker-compose.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, ok := c.Find(dir)
	if !ok {
		t.Fatal("not found")
	}
	if err := c.Register(p); err != nil {
		t.Fatal(err)
	}
	return p
}
