package compose

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

func at(ms int) time.Time { return time.Unix(1_790_000_000, int64(ms)*1e6).UTC() }

func out(ms int, text string) record  { return record{pipeline.Stdout, at(ms), text} }
func errs(ms int, text string) record { return record{pipeline.Stderr, at(ms), text} }

func frames(tty bool, records ...record) []byte {
	var b []byte
	for _, r := range records {
		b = append(b, r.frame(tty)...)
	}
	return b
}

// decoded are the lines as texts: the stream, the milliseconds, the records, the text.
func decoded(r io.Reader, tty bool) (lines []string, err error) {
	d := decoder{pause: func() bool { return true }, line: func(l line) bool {
		text := string(l.text)
		if len(text) > 100 {
			text = fmt.Sprintf("%.10s...%d", text, len(text))
		}
		ms := int64(-1)
		if !l.at.IsZero() {
			ms = l.at.UnixMilli() - at(0).UnixMilli()
		}
		lines = append(lines, fmt.Sprintf("%.1s%d/%d %s", strings.TrimPrefix(l.stream.String(), "std"), ms, l.records, text))
		return true
	}}
	_, err = d.decode(r, tty)
	return lines, err
}

func TestDecode(t *testing.T) {
	long := strings.Repeat("x", recordBytes)
	for _, tt := range []struct {
		name string
		tty  bool
		in   []byte
		want []string
		err  error
	}{
		{"nothing", false, nil, nil, nil},
		{"two streams", false, frames(false, out(1, "a\n"), errs(2, "b\n"), out(3, "\n")), []string{"o1/1 a", "e2/1 b", "o3/1 "}, nil},
		{"a long line", false, frames(false, out(1, long), out(1, long), out(1, "end\n")), []string{"o1/3 xxxxxxxxxx...32771"}, nil},
		{"a long line with another stream within", false, frames(false, out(1, long), errs(2, "b\n"), out(1, "end\n")), []string{"e2/1 b", "o1/2 xxxxxxxxxx...16387"}, nil},
		{"half a line at the end", false, frames(false, out(1, "a\n"), out(2, "half")), []string{"o1/1 a", "o2/1 half"}, nil},
		{"half a line before a restart", false, frames(false, out(1, "half"), out(2, "a\n")), []string{"o1/1 half", "o2/1 a"}, nil},
		{"broken within a line", false, frames(false, out(1, "a\n"), out(2, "half\n"))[:60], []string{"o1/1 a"}, io.ErrUnexpectedEOF},
		{"broken within a header", false, frames(false, out(1, "a\n"), out(2, "b\n"))[:45], []string{"o1/1 a"}, io.ErrUnexpectedEOF},
		{"no frames", false, []byte("plain text\n"), nil, errFrame},
		{"without times", false, []byte("\x01\x00\x00\x00\x00\x00\x00\x02a\n"), []string{"o-1/1 a"}, nil},
		{"a terminal", true, frames(true, out(1, "a\r\n"), out(2, "b c\r\n")), []string{"o1/1 a\r", "o2/1 b c\r"}, nil},
		{"a terminal with a long line", true, frames(true, out(1, long), out(1, long), out(1, "end\n"), out(2, "b\n")), []string{"o1/3 xxxxxxxxxx...32771", "o2/1 b"}, nil},
		{"a terminal with a line of its own time", true, frames(true, out(1, long+at(1).Format(time.RFC3339Nano)+" x\n")), []string{"o1/1 xxxxxxxxxx...16410"}, nil},
		{"a terminal with half a line", true, frames(true, out(1, "a\n"), out(2, "half")), []string{"o1/1 a", "o2/1 half"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"at once": bytes.NewReader(tt.in), "bytes": iotest.OneByteReader(bytes.NewReader(tt.in)), "with its end": iotest.DataErrReader(bytes.NewReader(tt.in)),
			} {
				got, err := decoded(r, tt.tty)
				if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
					t.Errorf("%s: got %q, %v, want %q, %v", name, got, err, tt.want, tt.err)
				}
			}
		})
	}
}

// A line of more than 8 MiB becomes several, none of which splits a character.
func TestDecode_VeryLong(t *testing.T) {
	var in []byte
	part := strings.Repeat("é", recordBytes/2)
	n := pipeline.CaptureLimit/recordBytes + 10
	for range n {
		in = append(in, out(1, part).frame(false)...)
	}
	in = append(in, out(1, "end\n").frame(false)...)
	var text []byte
	records, lines := 0, 0
	d := decoder{pause: func() bool { return true }, line: func(l line) bool {
		if !bytes.HasPrefix(l.text, []byte("é")) || len(l.text) > pipeline.CaptureLimit {
			t.Errorf("a piece of %d bytes begins within a character", len(l.text))
		}
		text, records, lines = append(text, l.text...), records+l.records, lines+1
		return true
	}}
	if ok, err := d.decode(bytes.NewReader(in), false); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if want := strings.Repeat(part, n) + "end"; string(text) != want || records != n+1 || lines != 2 {
		t.Errorf("%d bytes in %d lines of %d records, want %d in 2 of %d", len(text), lines, records, len(want), n+1)
	}
}

// Whatever comes, the lines do not depend on how it comes, and nothing is read twice.
func FuzzDecode(f *testing.F) {
	f.Add(frames(false, out(1, "a\n"), errs(2, "half"), out(3, "b\n")), false)
	f.Add(frames(true, out(1, strings.Repeat("x", recordBytes)), out(1, "end\r\n")), true)
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00"), false)
	f.Fuzz(func(t *testing.T, in []byte, tty bool) {
		want, wantErr := decoded(bytes.NewReader(in), tty)
		got, err := decoded(iotest.HalfReader(bytes.NewReader(in)), tty)
		if !slices.Equal(got, want) || !errors.Is(err, wantErr) {
			t.Errorf("%q, %v in halves, %q, %v at once", got, err, want, wantErr)
		}
		size := 0
		for _, l := range want {
			size += len(l)
		}
		if wantErr == nil && tty && bytes.Count(in, []byte{'\n'}) > len(want) {
			t.Errorf("%d lines of %d", len(want), bytes.Count(in, []byte{'\n'}))
		}
	})
}
