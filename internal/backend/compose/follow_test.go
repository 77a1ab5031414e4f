package compose

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// A follow begins with what there is, goes on with what comes, over every end of a
// container, and tells of containers that come.
func TestFollow(t *testing.T) {
	e := shop(t)
	f := follow(t, Options{Env: e.env, Lines: 1})
	f.wants("db-1 stdout e", "web-2 stdout f", "web-1 stdout g")
	e.streaming(3)
	db, web := e.containers[2], e.containers[1]
	e.write(db, errs(8, "one\n"))
	f.wants("db-1 stderr one")
	// Written while nobody reads: after the end of the stream, before the next one.
	e.stop(db)
	e.write(db, out(8, "two\n"), out(8, "three\n"))
	e.start(db)
	e.write(db, out(9, "four\n"))
	f.wants("db-1 stdout two", "db-1 stdout three", "db-1 stdout four")
	// A new container is read from its begin.
	n := &fakeContainer{id: "n", service: "web", number: "3", records: []record{out(1, "new\n")}}
	e.add(n)
	f.wants("web-3 stdout new")
	e.write(n, out(10, "half of a li"))
	e.remove(n)
	f.wants("web-3 stdout half of a li")
	e.write(web, out(11, "last\n"))
	f.wants("web-1 stdout last")
	f.ends(nil)
}

// A stream that ends before the log does leaves nothing out, also where the container is not
// started again.
func TestFollow_ShortStream(t *testing.T) {
	e := newFakeEngine(t)
	c := e.add(&fakeContainer{id: "w", service: "web", number: "1", short: true, records: []record{out(1, "a\n")}})
	f := follow(t, Options{Env: e.env, Lines: -1})
	e.streaming(1)
	f.wants("web-1 stdout a")
	e.change(func() {
		c.running = false
		c.records = append(c.records, out(2, "b\n"), errs(3, "c\n"))
	})
	f.wants("web-1 stdout b", "web-1 stderr c")
	f.ends(nil)
}

// However much was written while nobody read, all of it comes.
func TestFollow_Gap(t *testing.T) {
	e := newFakeEngine(t)
	c := e.add(&fakeContainer{id: "w", service: "web", number: "1", short: true, records: []record{out(1, "0\n")}})
	f := follow(t, Options{Env: e.env, Lines: -1})
	e.streaming(1)
	f.wants("web-1 stdout 0")
	e.change(func() {
		c.running = false
		for i := range 2 * rereadRecords {
			c.records = append(c.records, out(10+i/2, fmt.Sprintln(i+1)))
		}
	})
	for i := range 2 * rereadRecords {
		f.wants(fmt.Sprintf("web-1 stdout %d", i+1))
	}
	f.ends(nil)
}

// What is older than the last lines does not come later: a stream of which none of them was
// is not read from its begin.
func TestFollow_Floor(t *testing.T) {
	e := newFakeEngine(t)
	c := e.add(&fakeContainer{id: "w", service: "web", number: "1", records: []record{errs(1, "old\n")}})
	for i := range 2 * moreRecords {
		c.records = append(c.records, out(10+i/3, fmt.Sprintln(i)))
	}
	f := follow(t, Options{Env: e.env, Lines: 1})
	e.streaming(1)
	f.wants(fmt.Sprintf("web-1 stdout %d", 2*moreRecords-1))
	e.write(c, errs(80, "new\n"))
	f.wants("web-1 stderr new")
	f.ends(nil)
}

// Who reads slowly gets what the engine had sent before it went away.
func TestFollow_SlowReader(t *testing.T) {
	e := shop(t)
	f := follow(t, Options{Env: e.env, Lines: 0, awayTime: 100 * time.Millisecond}, 0)
	e.streaming(3)
	for i := range 3 {
		e.write(e.containers[i], out(20, "x\n"))
	}
	for _, c := range e.containers[:3] {
		e.until(func() bool { return c.sent == len(c.records) })
	}
	e.change(func() { e.refusing = true })
	<-time.After(500 * time.Millisecond) // the engine is given up meanwhile, or is soon
	for range 3 {
		select {
		case <-f.lines:
		case <-time.After(20 * time.Second):
			t.Fatal("a line is missing")
		}
	}
	f.ends(errNoEngine)
}

// With times that go back, lines of one time, and connections that break off anywhere, each
// line comes once, in its order.
func TestFollow_EachLineOnce(t *testing.T) {
	for _, each := range []bool{false, true} {
		for seed := range 12 {
			t.Run(fmt.Sprint(each, seed), func(t *testing.T) {
				e := newFakeEngine(t)
				e.sinceEach = each
				cuts := seed
				e.cut = func() int {
					cuts++
					if cuts%3 == 0 {
						return -1
					}
					return (cuts * 37) % 400
				}
				c := e.add(&fakeContainer{id: "w", service: "web", number: "1"})
				var want []string
				n, ms := 0, 0
				write := func() {
					n++
					if n%3 == 0 {
						ms += n % 7 // others have the time of the one before
					}
					r := out(ms, fmt.Sprintln(n))
					if n%5 == 0 {
						// stdout and stderr overtake each other.
						r = errs(ms-3, fmt.Sprintln(n))
					}
					e.write(c, r)
					want = append(want, fmt.Sprintf("web-1 %s %d", r.stream, n))
				}
				for range seed % 10 {
					write()
				}
				cut := e.cut
				e.cut = func() int { return -1 } // the begin is a snapshot: it must not break
				f := follow(t, Options{Env: e.env, Lines: -1})
				e.streaming(1)
				f.wants(want[:len(want):len(want)]...)
				e.change(func() { e.cut = cut })
				for range 20 {
					before := len(want)
					for range 1 + n%4 {
						write()
					}
					// A stream that was cut is taken up again with the next start.
					for try := 0; !f.has(len(want)); try++ {
						if try > 200 {
							t.Fatalf("no line after %q", f.got)
						}
						e.stop(c)
						e.start(c)
						f.wait(10 * time.Millisecond)
					}
					f.wants(want[before:]...)
				}
				f.ends(nil)
			})
		}
	}
}

// An engine that comes back is taken up again; one that does not is a failure, after what it
// had sent.
func TestFollow_EngineAway(t *testing.T) {
	e := shop(t)
	f := follow(t, Options{Env: e.env, Lines: 0, awayTime: 400 * time.Millisecond})
	e.streaming(3)
	web := e.containers[1]
	e.write(web, out(20, "before\n"))
	f.wants("web-1 stdout before")
	e.change(func() { e.refusing = true })
	time.Sleep(150 * time.Millisecond) // within the time: what is tested is the wait itself
	e.change(func() {
		e.refusing = false
		web.records = append(web.records, out(21, "back\n"))
	})
	f.wants("web-1 stdout back")
	e.change(func() {
		web.records = append(web.records, out(22, "last\n"))
	})
	f.wants("web-1 stdout last")
	e.change(func() { e.refusing = true })
	f.ends(errNoEngine)
}

// A following reads a source on a goroutine of its own.
type following struct {
	t      *testing.T
	lines  chan string
	stop   context.CancelFunc
	err    chan error
	got    []string
	queued []string
}

// follow begins to follow. room is how many lines are taken before they are asked for.
func follow(t *testing.T, o Options, room ...int) *following {
	t.Helper()
	o.Follow, o.Project = true, "shop"
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	f := &following{t: t, lines: make(chan string, append(room, 10_000)[0]), stop: stop, err: make(chan error, 1)}
	go func() {
		defer s.Close()
		for items := range s.Batches(ctx) {
			for _, line := range texts(items) {
				f.lines <- line
			}
		}
		f.err <- s.Err()
	}()
	return f
}

// wait takes in what comes within a time.
func (f *following) wait(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case line := <-f.lines:
			f.queued = append(f.queued, line)
		case <-end:
			return
		}
	}
}

// has says whether so many lines have come in all.
func (f *following) has(n int) bool {
	for {
		select {
		case line := <-f.lines:
			f.queued = append(f.queued, line)
		default:
			return len(f.got)+len(f.queued) >= n
		}
	}
}

// wants waits for lines, which come next and in this order.
func (f *following) wants(lines ...string) {
	f.t.Helper()
	for _, want := range lines {
		var line string
		if len(f.queued) > 0 {
			line, f.queued = f.queued[0], f.queued[1:]
		} else {
			select {
			case line = <-f.lines:
			case <-time.After(20 * time.Second):
				f.t.Fatalf("no line came after %q, want %q", f.got, want)
			}
		}
		if f.got = append(f.got, line); line != want {
			f.t.Fatalf("got %q after %q, want %q", line, f.got[:len(f.got)-1], want)
		}
	}
}

// ends waits for the end: by itself where there is to be an error, else by its context.
// Nothing more has come until then.
func (f *following) ends(want error) {
	f.t.Helper()
	if want == nil {
		f.stop()
	}
	select {
	case err := <-f.err:
		if err != want {
			f.t.Errorf("ended with %v, want %v", err, want)
		}
	case <-time.After(20 * time.Second):
		f.t.Fatal("it does not end")
	}
	f.stop()
	close(f.lines)
	if more := slices.Collect(func(yield func(string) bool) {
		for line := range f.lines {
			yield(line)
		}
	}); len(more) > 0 {
		f.t.Errorf("and %q", more)
	}
}
