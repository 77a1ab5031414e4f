// Command logger is the program in the image of the tests. Without a word it writes log
// lines; with one it does what other tests need of a container that has no shell:
//
//	logger [-n N] [-every D] ...     lines; see the flags
//	logger echo WORD...              the words
//	logger env                       its environment
//	logger pwd                       its working directory
//	logger exit N                    nothing, with that exit code
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		word(os.Args[1], os.Args[2:])
		return
	}
	var w writer
	flag.IntVar(&w.n, "n", 3, "how many `LINES`; 0 writes none, -1 does not end")
	flag.DurationVar(&w.every, "every", 0, "the time between two lines")
	flag.IntVar(&w.stderr, "stderr", 0, "each `N`th line goes to stderr")
	flag.StringVar(&w.text, "text", "line", "what a line begins with")
	flag.IntVar(&w.long, "long", 0, "fill each line up to so many `BYTES`")
	flag.StringVar(&w.fill, "fill", ".", "what a line is filled up with")
	flag.BoolVar(&w.open, "open", false, "at the end write half a line, without LF")
	flag.BoolVar(&w.wait, "wait", false, "at the end wait for SIGTERM")
	flag.StringVar(&w.record, "record", "", "append what was written to `FILE`: o or e for the stream, then the line")
	code := flag.Int("exit", 0, "the exit `CODE`")
	flag.Parse()
	w.run()
	os.Exit(*code)
}

func word(name string, args []string) {
	switch name {
	case "echo":
		fmt.Println(strings.Join(args, " "))
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "pwd":
		dir, err := os.Getwd()
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println(dir)
	case "exit":
		code := 1
		if len(args) > 0 {
			code, _ = strconv.Atoi(args[0])
		}
		os.Exit(code)
	default:
		fmt.Fprintln(os.Stderr, "unknown word")
		os.Exit(2)
	}
}

type writer struct {
	n, stderr, long     int
	every               time.Duration
	text, fill, record  string
	open, wait          bool
	stdout, errors, rec *bufio.Writer
}

// run writes the lines. A SIGTERM ends it between two lines.
func (w *writer) run() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	w.stdout, w.errors = bufio.NewWriterSize(os.Stdout, 64<<10), bufio.NewWriterSize(os.Stderr, 64<<10)
	run := 1
	if w.record != "" {
		runs, _ := os.ReadFile(w.record + ".runs")
		run = len(runs) + 1
		if err := os.WriteFile(w.record+".runs", append(runs, '.'), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		f, err := os.OpenFile(w.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		defer f.Close()
		w.rec = bufio.NewWriterSize(f, 64<<10)
	}
	defer w.flush()
	for i := 1; w.n < 0 || i <= w.n; i++ {
		w.line(fmt.Sprintf("%s %d %d ", w.text, run, i), w.stderr > 0 && i%w.stderr == 0)
		if w.every == 0 {
			select {
			case <-end:
				w.last(run)
				return
			default:
				continue
			}
		}
		w.flush()
		select {
		case <-end:
			w.last(run)
			return
		case <-time.After(w.every):
		}
	}
	w.last(run)
	w.flush()
	if w.wait {
		<-end
	}
}

// last leaves half a line.
func (w *writer) last(run int) {
	if w.open {
		text := fmt.Sprintf("%s %d half", w.text, run)
		w.stdout.WriteString(text)
		if w.rec != nil {
			w.rec.WriteString("o" + text + "\n")
		}
	}
}

func (w *writer) line(head string, toStderr bool) {
	if missing := w.long - len(head); missing > 0 {
		head += strings.Repeat(w.fill, (missing+len(w.fill)-1)/len(w.fill))
	}
	out, mark := w.stdout, "o"
	if toStderr {
		out, mark = w.errors, "e"
	}
	out.WriteString(head)
	out.WriteByte('\n')
	if w.rec != nil {
		w.rec.WriteString(mark + head + "\n")
	}
}

// flush brings out what was written; the record comes last.
func (w *writer) flush() {
	w.stdout.Flush()
	w.errors.Flush()
	if w.rec != nil {
		w.rec.Flush()
	}
}
