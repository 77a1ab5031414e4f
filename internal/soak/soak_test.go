//go:build linux

package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(stubVariable) != "" {
		os.Exit(stub(os.Args[1:]))
	}
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tailrace-soak-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tailrace")
	cmd := exec.Command("go", "build", "-o", binary, "../../cmd/tailrace")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return m.Run()
}

const workers = 4

// roundsOf says how often the servers are measured, at rest.
func roundsOf(duration time.Duration) int {
	if duration < time.Minute {
		return 4
	}
	return 10
}

// A soak is one run of the test.
type soak struct {
	t        *testing.T
	dir      string
	env      []string
	deadline time.Time
	seed     uint64

	// rest is held for reading by each call, and for writing while servers are measured.
	rest                       sync.RWMutex
	calls, cancelled, sessions atomic.Int64
	failures                   atomic.Int64
}

func (s *soak) fail(format string, args ...any) {
	if s.failures.Add(1) < 20 {
		s.t.Errorf(format, args...)
	}
}

func (s *soak) over() bool { return time.Now().After(s.deadline) || s.failures.Load() >= 20 }

func (s *soak) random(n int) *rand.Rand { return rand.New(rand.NewPCG(s.seed, uint64(n))) }

// TestSoak is the law stop-leaves-nothing, with flat memory and no wrong outcome, over time.
func TestSoak(t *testing.T) {
	s, duration := newSoak(t)
	s.run(duration)
	t.Logf("%d calls, %d of them cancelled, and %d short sessions", s.calls.Load(), s.cancelled.Load(), s.sessions.Load())
}

// newSoak reads the settings of a soak and makes its project.
func newSoak(t *testing.T) (s *soak, duration time.Duration) {
	duration = 15 * time.Second
	if v := os.Getenv("TAILRACE_SOAK"); v != "" {
		var err error
		if duration, err = time.ParseDuration(v); err != nil {
			t.Fatal("TAILRACE_SOAK: ", err)
		}
	}
	s = &soak{t: t, dir: t.TempDir(), seed: uint64(time.Now().UnixNano())}
	if v := os.Getenv("TAILRACE_SOAK_SEED"); v != "" {
		var err error
		if s.seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatal("TAILRACE_SOAK_SEED: ", err)
		}
	}
	t.Logf("seed %d, %v", s.seed, duration)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HACK_HOME=" + home, "HACK_MCP_COMMAND=" + exe, stubVariable + "=1"}
	return s, duration
}

func (s *soak) run(duration time.Duration) {
	steady := make([]*server, 2)
	for i := range steady {
		var err error
		if steady[i], err = begin(s.dir, s.env, fmt.Sprintf("%d-steady-%d", os.Getpid(), i)); err != nil {
			s.t.Fatal(err)
		}
		defer steady[i].kill()
	}
	s.warm(steady)
	s.deadline = time.Now().Add(duration)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { s.work(steady[i%len(steady)], s.random(i)) })
	}
	all.Go(func() { s.churn(s.random(workers)) })
	rounds := roundsOf(duration)
	var measured [][]usage
	for i := range rounds {
		time.Sleep(time.Until(s.deadline.Add(-duration * time.Duration(rounds-1-i) / time.Duration(rounds))))
		if s.failures.Load() >= 20 {
			break
		}
		measured = append(measured, s.measure(steady))
	}
	all.Wait()
	if len(measured) == rounds {
		s.judge(measured)
	}
	for _, server := range steady {
		s.endSteady(server)
	}
}

// warm makes every call once on each server, several at a time: what a server keeps for
// the next call, it has from then on.
func (s *soak) warm(steady []*server) {
	var all sync.WaitGroup
	for i, server := range steady {
		places := make(chan struct{}, workers)
		for _, c := range kinds(s.random(100 + i)) {
			all.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				s.check(server, c)
			})
		}
	}
	all.Wait()
}

// work calls one server until the time is over.
func (s *soak) work(server *server, r *rand.Rand) {
	for !s.over() {
		s.rest.RLock()
		if r.IntN(8) == 0 {
			s.cancelOne(server, r)
		} else {
			s.callOne(server, r)
		}
		s.rest.RUnlock()
	}
}

func (s *soak) callOne(server *server, r *rand.Rand) {
	s.check(server, pick(r))
	if r.IntN(4) == 0 {
		for _, method := range []string{"ping", "tools/list"} {
			if got, err := server.wait(server.ask(method, map[string]any{})); err != nil || got.Error != nil {
				s.fail("S7: %s: %v", method, err)
			}
		}
	}
}

// check makes a call and looks at its outcome.
func (s *soak) check(server *server, c call) {
	n := s.calls.Add(1)
	began := time.Now()
	id, answer := server.call(c.tool, c.args, n%4 == 0)
	got, err := server.wait(id, answer)
	if err == nil {
		err = c.want(got)
	}
	if err != nil {
		s.fail("%s %v after %v: %v", c.tool, c.args, time.Since(began).Round(time.Millisecond), err)
	}
}

// cancelOne cancels a call that does not end by itself. No reply comes, then or later.
func (s *soak) cancelOne(server *server, r *rand.Rand) {
	s.calls.Add(1)
	s.cancelled.Add(1)
	kind := []string{"hang", "deaf", "stopped", "answer"}[r.IntN(4)]
	id, answer := server.call(tailTool, map[string]any{"query": "kind=" + kind, "maxEvents": 100, "maxMs": 60000}, false)
	time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond) // at any point of the call
	server.cancel(id)
	if got, err := server.wait(server.ask("ping", map[string]any{})); err != nil || got.Error != nil {
		s.fail("S7: ping after a cancel: %v", err)
	}
	select {
	case <-answer:
		s.fail("S2: a reply to a cancelled call of kind %s", kind)
	default:
	}
	server.forget(id)
}

// churn starts sessions and ends each in the middle of its calls, in another way.
func (s *soak) churn(r *rand.Rand) {
	for n := 0; !s.over(); n++ {
		s.rest.RLock()
		s.short(r, n)
		s.rest.RUnlock()
	}
}

func (s *soak) short(r *rand.Rand, n int) {
	marker := fmt.Sprintf("%d-short-%d", os.Getpid(), n)
	server, err := begin(s.dir, s.env, marker)
	if err != nil {
		s.fail("a session does not begin: %v", err)
		return
	}
	defer server.kill()
	s.sessions.Add(1)
	s.callOne(server, r)
	for _, kind := range []string{"deaf", "hang", "flood", "family"}[r.IntN(3):] {
		server.call(tailTool, map[string]any{"query": "kind=" + kind, "maxEvents": 10000, "maxMs": 60000}, false)
	}
	time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond) // at any point of the calls
	way := n % 6
	switch way {
	case 0:
		server.stdin.Close()
	case 1:
		server.cmd.Process.Signal(syscall.SIGTERM)
	case 2:
		server.cmd.Process.Kill()
	case 3:
		server.stdout.Close()
		server.send(`{"jsonrpc":"2.0","id":"x","method":"ping"}`)
	case 4:
		server.stdout.Close()
		server.stdin.Close()
	case 5:
		server.cmd.Process.Signal(syscall.SIGSTOP)
		server.stdin.Close()
		server.cmd.Process.Signal(syscall.SIGCONT)
	}
	began := time.Now()
	select {
	case <-server.ended:
	case <-time.After(patience):
		s.fail("S2: a session that ended in way %d does not end", way)
		return
	}
	if took := time.Since(began); took > 4*time.Second { // 1.9 s, on a machine of one's own
		s.fail("S2: a session that ended in way %d took %v", way, took)
	}
	if code := server.cmd.ProcessState.ExitCode(); code != 0 && way != 2 {
		s.fail("S2: exit code %d in way %d", code, way)
	}
	s.gone(marker)
	for _, err := range server.complaints() {
		s.fail("way %d: %v", way, err)
	}
}

// gone waits until no command of a server is alive.
func (s *soak) gone(marker string) {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := commandsOf(marker)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			s.fail("S3: commands are left: %v", left)
			return
		}
	}
}

// measure brings the servers to rest and says what each has in use.
func (s *soak) measure(steady []*server) (list []usage) {
	s.rest.Lock()
	defer s.rest.Unlock()
	for _, server := range steady {
		s.gone(server.marker)
		var u usage
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			now, err := usageOf(server.cmd.Process.Pid)
			if err != nil {
				s.fail("a server is gone: %v", err)
				return nil
			}
			// What ends a group goes on for a moment after its last process.
			if u = now; u.Zombies == 0 || time.Now().After(end) {
				break
			}
		}
		list = append(list, u)
	}
	s.t.Logf("after %d calls: %v", s.calls.Load(), list)
	return list
}

// judge compares the second half of the measures with the end of the warm-up.
func (s *soak) judge(measured [][]usage) {
	for i := range measured[0] {
		var warm, late usage
		for round, list := range measured {
			if i >= len(list) {
				return
			}
			u := list[i]
			if round < len(measured)/2 {
				warm = maxUsage(warm, u)
			} else {
				late = maxUsage(late, u)
			}
		}
		switch {
		case late.RSS > warm.RSS+warm.RSS/2+64<<20:
			s.fail("memory: %v after %v", late, warm)
		case late.Descriptors > warm.Descriptors+2:
			s.fail("stop-leaves-nothing: %v after %v", late, warm)
		case late.Threads > warm.Threads+8:
			s.fail("stop-leaves-nothing: %v after %v", late, warm)
		case late.Zombies > 0 || warm.Zombies > 0:
			s.fail("stop-leaves-nothing: zombies at rest: %v, %v", warm, late)
		}
	}
}

func maxUsage(a, b usage) usage {
	return usage{max(a.RSS, b.RSS), max(a.Descriptors, b.Descriptors), max(a.Threads, b.Threads), max(a.Zombies, b.Zombies)}
}

// endSteady ends a server as a client does, and looks at what it said by itself.
func (s *soak) endSteady(server *server) {
	if _, err := server.wait(server.ask("ping", map[string]any{})); err != nil {
		if !errors.Is(err, errGone) {
			s.fail("B10: %v", err)
			return
		}
		s.fail("B10: the server is gone before its time")
	}
	server.stdin.Close()
	select {
	case <-server.ended:
	case <-time.After(patience):
		s.fail("S2: a server does not end")
		return
	}
	if code := server.cmd.ProcessState.ExitCode(); code != 0 {
		s.fail("S2: exit code %d", code)
	}
	s.gone(server.marker)
	for _, err := range server.complaints() {
		s.fail("%v", err)
	}
}
