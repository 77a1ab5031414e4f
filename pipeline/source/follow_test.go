//go:build unix

package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// followed reads a followed file until it holds want, which must come exactly.
func followed(t *testing.T, f *source.File, steps func(seen func(string)), each ...func([]byte)) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var seen atomic.Pointer[string]
	empty := ""
	seen.Store(&empty)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		var all []byte
		for c := range f.Chunks(ctx) {
			all = append(all, c.Data...)
			for _, f := range each {
				f(c.Data)
			}
			s := string(all)
			seen.Store(&s)
		}
	}()
	steps(func(want string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); !strings.HasSuffix(*seen.Load(), want); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q does not end in %q", *seen.Load(), want)
			}
		}
	})
	cancel()
	<-finished
	if f.Exit().End != pipeline.EndContext {
		t.Errorf("%+v", f.Exit())
	}
	return *seen.Load()
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f := openFile(t, path, source.FileOptions{Follow: true, Poll: time.Millisecond})
	got := followed(t, f, func(seen func(string)) {
		put(t, path, "created\n")
		seen("created\n")
		add(t, path, "more\n")
		seen("more\n")
		// Rotation: written to behind its new name, then the new file.
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		add(t, path+".1", "late\n")
		seen("late\n")
		put(t, path, "rotated\n")
		seen("rotated\n")
		// Truncation in place.
		put(t, path, "cut\n")
		seen("cut\n")
		// Truncated and refilled to more than before: known by its beginning.
		put(t, path, "another and longer\n")
		seen("another and longer\n")
		// Removed and made again, with a line that nothing completes.
		add(t, path, "half")
		seen("half")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		put(t, path, "again\n")
		seen("again\n")
	})
	if want := "created\nmore\nlate\nrotated\ncut\nanother and longer\nhalf\nagain\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFollowIsPrompt: what is added is read within one poll, 100 ms by default.
func TestFollowIsPrompt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	synctest.Test(t, func(t *testing.T) {
		f := openFile(t, path, source.FileOptions{Follow: true})
		start := time.Now()
		time.AfterFunc(1050*time.Millisecond, func() { put(t, path, "made\n") })
		time.AfterFunc(5130*time.Millisecond, func() { add(t, path, "added\n") })
		var at []time.Duration
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range f.Chunks(ctx) {
			at = append(at, time.Since(start))
		}
		if len(at) != 3 || at[0] > 1150*time.Millisecond || at[1] > 5230*time.Millisecond || at[2] != time.Minute {
			t.Errorf("read at %v", at)
		}
	})
}

// TestFollowWaitsForTheWriter: a new file that is made before the writer moves on to it
// does not end the old one.
func TestFollowWaitsForTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, "1\n")
	got := followed(t, openFile(t, path, source.FileOptions{Follow: true, Poll: time.Millisecond}), func(seen func(string)) {
		seen("1\n")
		move(t, path, path+"-old")
		put(t, path, "")
		for i := range 20 { // over many looks
			line := fmt.Sprintf("late %d\n", i)
			add(t, path+"-old", line)
			seen(line)
		}
		add(t, path+"-old", "last\n")
		add(t, path, "new\n")
		seen("new\n")
	})
	if !strings.HasSuffix(got, "late 19\nlast\nnew\n") {
		t.Errorf("%q", got)
	}
}

// TestFollowGone: the name means nothing for a while, or something that cannot be read.
func TestFollowGone(t *testing.T) {
	for _, rooted := range []bool{false, true} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "dir")
		path := filepath.Join(dir, "log")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, path, "1\n")
		o := source.FileOptions{Follow: true, Poll: time.Millisecond}
		if rooted {
			o.Root = parent
		}
		got := followed(t, openFile(t, path, o), func(seen func(string)) {
			seen("1\n")
			move(t, dir, dir+".away")
			add(t, filepath.Join(dir+".away", "log"), "2\n")
			seen("2\n")
			if err := os.MkdirAll(path, 0o700); err != nil { // a folder under the name
				t.Fatal(err)
			}
			add(t, filepath.Join(dir+".away", "log"), "3\n")
			seen("3\n")
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			move(t, dir+".away", dir)
			add(t, path, "4\n")
			seen("4\n")
		})
		if want := "1\n2\n3\n4\n"; got != want {
			t.Errorf("in a root %v: %q, want %q", rooted, got, want)
		}
	}
}

// TestFollowLink: a link that is moved on is a rotation, and under a root it leads nowhere
// outside.
func TestFollowLink(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	link := func(to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(in, "fresh")); err != nil {
			t.Fatal(err)
		}
		move(t, filepath.Join(in, "fresh"), filepath.Join(in, "log"))
	}
	put(t, filepath.Join(in, "a"), "a\n")
	put(t, filepath.Join(in, "b"), "b\n")
	put(t, filepath.Join(dir, "secret"), "secret\n")
	link("a")
	got := followed(t, openFile(t, "log", source.FileOptions{Follow: true, Poll: time.Millisecond, Root: in}), func(seen func(string)) {
		seen("a\n")
		link("../secret")
		for i := range 20 { // over many looks
			line := fmt.Sprintf("a %d\n", i)
			add(t, filepath.Join(in, "a"), line)
			seen(line)
		}
		link("b")
		seen("b\n")
	})
	if strings.Contains(got, "secret") || !strings.HasSuffix(got, "a 19\nb\n") {
		t.Errorf("%q", got)
	}
}

// TestFollowTruncated: a file that is cut down is read again from its beginning, also
// where reading began in its middle and it has grown past that by the next look.
func TestFollowTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for n, first := range map[int]string{0: "old 1\nold 2\n", 1: "old 2\n", -1: ""} {
		put(t, path, "old 1\nold 2\n")
		got := followed(t, openFile(t, path, source.FileOptions{Follow: true, LastLines: n, Poll: time.Millisecond}), func(seen func(string)) {
			add(t, path, "old 3\n")
			seen("old 3\n")
			put(t, path, "new 1, which is longer than all before\n")
			seen("before\n")
			put(t, path, "short\n")
			seen("short\n")
		})
		if want := first + "old 3\nnew 1, which is longer than all before\nshort\n"; got != want {
			t.Errorf("last lines %d: %q, want %q", n, got, want)
		}
	}
}

// TestFollowRefilledBetweenTwoReads: nothing is read from the middle of what a file holds
// by then, with no look between.
func TestFollowRefilledBetweenTwoReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, "old\n")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got := drain(ctx, openFile(t, path, source.FileOptions{Follow: true, Poll: time.Millisecond}), func(r *read) bool {
		if r.stdout.String() == "old\n" {
			put(t, path, "new and longer\n")
		}
		return strings.HasSuffix(r.stdout.String(), "longer\n")
	})
	if want := "old\nnew and longer\n"; got.stdout.String() != want {
		t.Errorf("%q, want %q", got.stdout.String(), want)
	}
}
