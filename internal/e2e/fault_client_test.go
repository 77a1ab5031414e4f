package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const handshake = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

const longCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tailTool + `","arguments":{"maxMs":30000,"maxEvents":10000}}}` + "\n"

// A piped is a server whose pipes the test holds bare: it decides what is read.
type piped struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	log    lockedBuffer
	marker string
	ended  chan struct{}
}

func startPiped(t *testing.T, backend string, extra ...string) *piped {
	t.Helper()
	p := &piped{t: t, marker: newMarker(), ended: make(chan struct{})}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin, p.stdout = inW, outR
	p.start(inR, outW, backend, extra...)
	inR.Close()
	outW.Close()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return p
}

func (p *piped) start(stdin, stdout *os.File, backend string, extra ...string) {
	p.t.Helper()
	p.cmd = exec.Command(binary, "mcp", "serve")
	p.cmd.Dir = projectDir(p.t)
	p.cmd.Env = environment(p.t, p.marker, append([]string{"HACK_MCP_COMMAND=" + backend}, extra...)...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, &p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { p.cmd.Wait(); close(p.ended) }()
	p.t.Cleanup(func() { p.cmd.Process.Kill(); <-p.ended })
}

func (p *piped) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, text); err != nil {
		p.t.Fatal(err)
	}
}

// up waits until the backend of a call runs.
func (p *piped) up() {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); len(marked(p.marker)) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("no backend runs; the log: %s", p.log.String())
		}
	}
}

// endsInTime checks that the server ends by itself with code 0, with no child left.
func (p *piped) endsInTime(began time.Time) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		p.t.Fatal("S2: the server did not end")
	}
	if took := time.Since(began); took > 1900*time.Millisecond {
		p.t.Errorf("S2: ended after %v", took)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("S2: exit code %d; the log: %s", code, p.log.String())
	}
	p.gone(500 * time.Millisecond)
}

func (p *piped) gone(limit time.Duration) {
	p.t.Helper()
	feed{marker: p.marker}.gone(p.t, limit)
}

// A client that closes what it reads from is noticed at the next frame, and one that
// closes both at once.
func TestFault_ClientCloses(t *testing.T) {
	t.Run("stdout", func(t *testing.T) {
		p := startPiped(t, casePath(t, "b1-ignores-term.py"))
		p.write(handshake + longCall)
		p.up()
		p.stdout.Close()
		began := time.Now()
		p.write(`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n")
		p.endsInTime(began)
	})
	t.Run("both", func(t *testing.T) {
		p := startPiped(t, casePath(t, "b1-ignores-term.py"))
		p.write(handshake + longCall)
		p.up()
		began := time.Now()
		p.stdout.Close()
		p.stdin.Close()
		p.endsInTime(began)
	})
	t.Run("stdout before the handshake", func(t *testing.T) {
		p := startPiped(t, "/bin/true")
		p.stdout.Close()
		began := time.Now()
		p.write(handshake)
		p.endsInTime(began)
	})
}

// A client that is a process of its own dies by SIGKILL in a call.
func TestFault_ClientKilled(t *testing.T) {
	toServer, fromClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	toClient, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	client := exec.Command("/bin/sh", "-c", `printf %s "$1"; exec sleep 60`, "client", handshake+longCall)
	client.Stdin, client.Stdout = toClient, fromClient
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	defer client.Wait()
	defer client.Process.Kill()
	p := &piped{t: t, marker: newMarker(), ended: make(chan struct{})}
	p.start(toServer, fromServer, casePath(t, "b1-ignores-term.py"))
	for _, f := range []*os.File{toServer, fromClient, toClient, fromServer} {
		f.Close()
	}
	p.up()
	began := time.Now()
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.endsInTime(began)
}

// A client that never reads: results fill the pipe, and the server's write waits. The end
// of stdin and a signal end it all the same, with all that runs.
func TestFault_ClientNeverReads(t *testing.T) {
	for name, end := range map[string]func(*piped){
		"stdin end": func(p *piped) { p.stdin.Close() },
		"SIGTERM":   func(p *piped) { p.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			stub, flag := dir+"/stub", dir+"/second"
			// The first call writes 3 MiB, the second one does not end.
			write(t, stub, "#!/bin/sh\nif mkdir "+flag+" 2>/dev/null; then head -c 3000000 /dev/zero; exit 0; fi\n"+
				"trap '' TERM HUP INT\nwhile :; do echo '{\"type\":\"log\"}'; sleep 0.1; done\n", 0o755)
			p := startPiped(t, stub)
			p.write(handshake + strings.Replace(longCall, `"id":1`, `"id":2`, 1))
			p.blocked()
			p.write(longCall)
			p.up()
			began := time.Now()
			end(p)
			p.endsInTime(began)
		})
	}
}

// blocked waits until the pipe to the client is full.
func (p *piped) blocked() {
	p.t.Helper()
	size := 0
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		n := unread(p.t, p.stdout)
		if n > 32<<10 && n == size {
			return
		}
		size = n
		if time.Now().After(end) {
			p.t.Fatalf("the pipe holds %d bytes", n)
		}
	}
}

// stdout is a full disk: the first frame is lost, and with it the session.
func TestFault_FullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inW.Close()
	p := &piped{t: t, marker: newMarker(), ended: make(chan struct{}), stdin: inW}
	p.start(inR, full, "/bin/true")
	inR.Close()
	began := time.Now()
	p.write(handshake)
	p.endsInTime(began)

	cmd := exec.Command(binary, "run", "--", "sh", "-c", "while echo x; do :; done")
	cmd.Env = environment(t, newMarker())
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() <= 0 {
		t.Errorf("run onto a full disk ends with %v: %s", cmd.ProcessState, stderr.String())
	}
}

// unread returns how many bytes lie in a pipe.
func unread(t *testing.T, f *os.File) (n int) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if e := conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); e != nil || err != nil {
		t.Fatal(e, err)
	}
	return n
}
