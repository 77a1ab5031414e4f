package source

import (
	"context"
	"iter"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tailrace/tailrace/internal/procgroup"
	"github.com/tailrace/tailrace/pipeline"
)

// A Command says what to run. Nothing of it passes through a shell.
type Command struct {
	// Path is the executable: a path, or a name without a slash, which is looked up on
	// the PATH of Env. Relative paths, those on the PATH included, are taken from Dir.
	// The working directory is searched only where the PATH says so, by "." or by an
	// empty element.
	Path string
	// Args are the arguments, without argv[0], which is Path.
	Args []string
	// Dir is the working directory; "" means this process's own.
	Dir string
	// Env is the whole environment; nil means this process's own. Of a variable that is
	// in it twice the last value counts.
	Env []string
	// Grace is how long the group has between SIGTERM and SIGKILL. 0 means
	// [pipeline.StopGrace].
	Grace time.Duration
	// KeepGroup leaves what the command started alone when the command ends by itself:
	// it may be meant to stay. A stop ends the whole group all the same.
	KeepGroup bool
	// BufferBytes is the size of the first buffer for stdout; 0 means 64 KiB. Where all
	// of stdout fits it, lines are read without a copy. Buffers of 1 MiB and more are
	// kept for the next run.
	BufferBytes int
}

// A Child is a started command as a [pipeline.Source]. Chunks is for one goroutine;
// the other methods may be called from any.
type Child struct {
	group     processGroup
	keepGroup bool
	readers   [2]*reader
	chunks    chan pipeline.Chunk

	// exited is closed when the leader has exited, and code and codeErr are set.
	exited  chan struct{}
	code    int
	codeErr error
	// over is closed when the sequence is over.
	over chan struct{}
	// done is closed when nothing of the run is left, or left is set.
	done chan struct{}
	left bool
	// dropping is closed when what is still written is to be thrown away.
	dropping chan struct{}
	// killed is closed when the group has been sent SIGKILL by a stop.
	killed chan struct{}

	mu       sync.Mutex
	grace    time.Duration
	stopped  time.Time // when the stop began; zero before
	timer    *time.Timer
	ended    bool
	exit     pipeline.Exit
	released sync.Once
}

// Start starts a command. The error is a [*SpawnError]. The child runs until its
// sequence ends or Close is called; one of the two must happen, and Close gives back what
// the run holds.
func Start(c Command) (*Child, error) {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	path, err := resolve(c, env)
	if err != nil {
		return nil, err
	}
	reads, spec, err := openPipes()
	if err != nil {
		return nil, &SpawnError{Reason: SpawnFailed, Err: number(err)}
	}
	spec.Path, spec.Args, spec.Dir, spec.Env = path, append([]string{c.Path}, c.Args...), c.Dir, lastOfEach(env)
	child := &Child{
		keepGroup: c.KeepGroup,
		grace:     c.Grace,
		chunks:    make(chan pipeline.Chunk, 4),
		exited:    make(chan struct{}),
		over:      make(chan struct{}),
		done:      make(chan struct{}),
		dropping:  make(chan struct{}),
		killed:    make(chan struct{}),
	}
	if child.grace == 0 {
		child.grace = pipeline.StopGrace
	}
	started := make(chan error, 1)
	go child.lead(spec, started)
	err = <-started
	closeFiles(spec.Files[:])
	if err != nil {
		closeFiles(reads[:])
		return nil, classify(path, c.Dir, err)
	}
	child.readers[0] = newReader(child, pipeline.Stdout, reads[0], c.BufferBytes)
	child.readers[1] = newReader(child, pipeline.Stderr, reads[1], 0)
	go child.supervise()
	return child, nil
}

// lead starts the leader and waits for its exit. It keeps its thread for that long: the
// parent-death signal of the leader hangs on the thread that started it.
func (c *Child) lead(spec procgroup.Spec, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	group, err := startGroup(spec)
	c.group = group
	started <- err
	if err != nil {
		return
	}
	if c.code, err = group.Wait(); err != nil {
		c.code, c.codeErr = 1, ErrStatus
	}
	close(c.exited)
}

// supervise owns the readers and the group until nothing of them is left.
func (c *Child) supervise() {
	defer close(c.done)
	var both sync.WaitGroup
	for _, r := range c.readers {
		both.Go(r.run)
	}
	go func() { both.Wait(); close(c.chunks) }()

	if c.leaderGone() {
		<-c.over
		c.left = !c.endGroup()
		c.group.Release()
	} else {
		c.left = true
		// It stays known to the guard, and is reaped whenever it goes.
		go func() { <-c.exited; c.group.Release() }()
	}
	for _, r := range c.readers {
		r.file.Close()
	}
	both.Wait()
}

// Pid returns the process id of the child, which leads its process group.
func (c *Child) Pid() int { return c.group.Pid() }

// Guarded says whether the whole group ends with this process, however that ends. Where
// it is false the guard process could not be started, and a SIGKILL of this process
// reaches the child alone, or on a system without parent-death signals nothing.
func (c *Child) Guarded() bool { return c.group.Guarded() }

// Chunks yields what the child writes, in the order in which it is read.
//
// It returns when both pipes are closed and the child has exited. Where something else
// holds a pipe, what was written within [pipeline.DrainGrace] after the exit is read, or
// until ctx is done, if that is sooner, and the run has ended by itself.
//
// Otherwise the consumer, ctx or Close ends it: the group is stopped, and Chunks returns
// when the child has exited, at the latest when it was killed. The rest of the group is
// ended behind.
func (c *Child) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		var (
			chunks  = c.chunks
			exited  = c.exited
			done    = ctx.Done()
			drained <-chan time.Time
		)
		for chunks != nil || exited != nil {
			select {
			case chunk, open := <-chunks:
				if !open {
					chunks = nil
				} else if !yield(chunk) {
					c.stop()
					c.end(pipeline.EndConsumer)
					return
				}
			case <-exited:
				exited = nil
				t := time.NewTimer(pipeline.DrainGrace)
				defer t.Stop()
				drained = t.C
			case <-drained:
				c.finishReading()
			case <-c.dropping:
				// Closed from elsewhere. Something is missing, so this is a cut.
				yield(pipeline.Chunk{Cut: true})
				c.stop()
				c.end(pipeline.EndConsumer)
				return
			case <-done:
				done = nil
				if c.hasExited() {
					// All that the child wrote lies in the pipes. Only a descendant
					// could add to it.
					c.finishReading()
					continue
				}
				yield(pipeline.Chunk{Cut: true})
				c.stop()
				c.end(pipeline.EndContext)
				return
			}
		}
		c.end(pipeline.EndSource)
	}
}

// finishReading lets the readers take what lies in the pipes and end.
func (c *Child) finishReading() {
	for _, r := range c.readers {
		r.finish()
	}
}

func (c *Child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// end notes how the sequence ended, once.
func (c *Child) end(e pipeline.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	c.exit = pipeline.Exit{End: e, Code: killedCode}
	if c.hasExited() {
		c.exit.Code, c.exit.Err = c.code, c.codeErr
	}
	if e == pipeline.EndSource {
		for _, r := range c.readers {
			if err := r.failed(); err != nil {
				c.exit.Err = err
			}
		}
	}
	close(c.over)
}

// killedCode is the exit code of a child that was killed.
const killedCode = 128 + 9

// Exit returns how the child ended. Code is 128 + n where signal n ended it. Err wraps
// [ErrRead] or [ErrStatus].
func (c *Child) Exit() pipeline.Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exit
}

// Close stops the child if it still runs, waits until nothing of its group is left, and
// gives its buffers back. The error is nil or [ErrLeft].
func (c *Child) Close() error {
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if !ended {
		c.stop()
		c.end(pipeline.EndConsumer)
	}
	<-c.done
	c.released.Do(func() {
		for _, r := range c.readers {
			r.segments.release()
		}
	})
	if c.left {
		return ErrLeft
	}
	return nil
}

// openPipes opens the empty stdin and the two pipes of a child. All are closed on exec
// in everything but the child itself.
func openPipes() (reads [2]*os.File, spec procgroup.Spec, err error) {
	spec.Files[0], err = os.Open(os.DevNull)
	for i := range reads {
		if err == nil {
			reads[i], spec.Files[i+1], err = openPipe()
		}
	}
	if err != nil {
		closeFiles(slices.Concat(reads[:], spec.Files[:]))
		return reads, spec, err
	}
	widen(spec.Files[1])
	return reads, spec, nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
