//go:build unix

package source_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

func TestReader(t *testing.T) {
	r := source.NewReader(strings.NewReader("all of it"))
	if got := drain(context.Background(), r, nil).stdout.String(); got != "all of it" || r.Exit().Failed() {
		t.Errorf("%q %+v", got, r.Exit())
	}
	r.Close()
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("secret") }

func TestReaderError(t *testing.T) {
	r := source.NewReader(broken{})
	drain(context.Background(), r, nil)
	if e := r.Exit(); !errors.Is(e.Err, source.ErrRead) || !e.Failed() || strings.Contains(e.Err.Error(), "secret") {
		t.Errorf("%+v", e)
	}
}

func TestReaderStops(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	io.WriteString(out, "up")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r := source.NewReader(in)
	got := drain(ctx, r, nil)
	if got.stdout.String() != "up" || !got.cut || r.Exit().End != pipeline.EndContext {
		t.Errorf("%q cut %v %+v", got.stdout.String(), got.cut, r.Exit())
	}
	r.Close()
	io.WriteString(out, "again")
	r = source.NewReader(in)
	if got := drain(context.Background(), r, func(*read) bool { return true }); got.stdout.String() != "again" || r.Exit().End != pipeline.EndConsumer {
		t.Errorf("%q", got.stdout.String())
	}
	r.Close()
}

func TestStdin(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	old := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = old }()
	io.WriteString(out, "typed")
	s, err := source.Stdin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if got := drain(ctx, s, nil); got.stdout.String() != "typed" || !got.cut {
		t.Errorf("%q", got.stdout.String())
	}
	s.Close()
}
