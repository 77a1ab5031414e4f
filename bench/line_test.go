package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// tailrace runs a source through the whole line to the bytes of the result.
func tailrace(tb testing.TB, src pipeline.Source, dst []byte) []byte {
	run, err := stages.Collect(context.Background(), src, pipeline.Bounds{}, stages.CollectOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	out, _ := stages.Budget{}.AppendResult(dst[:0], stages.PayloadOf(run, "cat", false, stages.LogLimits{}))
	return out
}

// child runs cat over a file through the whole line.
func child(tb testing.TB, file string, dst []byte) []byte {
	c, err := source.Start(source.Command{Path: "cat", Args: []string{file}, BufferBytes: pipeline.CaptureLimit + 64<<10})
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	return tailrace(tb, c, dst)
}

func corpusFile(tb testing.TB, c Corpus) string {
	file := filepath.Join(tb.TempDir(), c.Name)
	if err := os.WriteFile(file, c.Bytes(Size), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

// TestSameWork: what is timed is right. The plain way and the line find the same events.
func TestSameWork(t *testing.T) {
	for _, c := range Corpora {
		data := c.Bytes(1 << 20)
		plain, err := Naive(bytes.NewReader(data), 0)
		if err != nil {
			t.Fatal(err)
		}
		type result struct {
			StructuredContent struct {
				Data struct {
					Events []any
					Count  int
				}
			}
		}
		var want, got result
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(tailrace(t, memsource.New(data, 64<<10), nil), &got); err != nil {
			t.Fatal(err)
		}
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		if !bytes.Equal(w, g) {
			t.Errorf("%s: %d events, want %d", c.Name, got.StructuredContent.Data.Count, want.StructuredContent.Data.Count)
		}
	}
}

// BenchmarkEndToEnd: a child writes the corpus. drain reads and throws away, the limit;
// tailrace and naive go on to the bytes of the result.
func BenchmarkEndToEnd(b *testing.B) {
	for _, c := range Corpora {
		file := corpusFile(b, c)
		b.Run(c.Name+"/drain", func(b *testing.B) {
			b.SetBytes(Size)
			buf := make([]byte, 256<<10)
			for b.Loop() {
				cmd := exec.Command("cat", file)
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = out.Read(buf)
				}
				cmd.Wait()
			}
		})
		b.Run(c.Name+"/tailrace", func(b *testing.B) {
			b.SetBytes(Size)
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = child(b, file, dst)
			}
		})
		if c.Name != "c1" {
			continue
		}
		b.Run(c.Name+"/naive", func(b *testing.B) {
			b.SetBytes(Size)
			b.ReportAllocs()
			for b.Loop() {
				cmd := exec.Command("cat", file)
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				if _, err := Naive(out, 0); err != nil {
					b.Fatal(err)
				}
				cmd.Wait()
			}
		})
	}
}

// BenchmarkMemory is the whole line over memory, without a child.
func BenchmarkMemory(b *testing.B) {
	for _, c := range Corpora {
		src := memsource.New(c.Bytes(Size), 64<<10)
		b.Run(c.Name, func(b *testing.B) {
			b.SetBytes(Size)
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = tailrace(b, src, dst)
			}
		})
	}
}
