package source

import (
	"context"
	"iter"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/tailrace/tailrace/internal/procgroup"
	"github.com/tailrace/tailrace/pipeline"
)

// A Command says what to run. Nothing of it passes through a shell.
type Command struct {
	// Path is the executable: a path, or a name that is looked up on the PATH of Env.
	// Relative paths are taken from Dir.
	Path string
	// Args are the arguments, without argv[0].
	Args []string
	// Dir is the working directory; "" means this process's own.
	Dir string
	// Env is the whole environment; nil means this process's own.
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
// Shorten, Close and Pid may be called from any.
type Child struct {
	group     *procgroup.Group
	keepGroup bool
	readers   [2]*reader
	chunks    chan pipeline.Chunk

	// exited is closed when the leader has exited and code is set.
	exited chan struct{}
	code   int
	// over is closed when the run is over, and done when nothing of it is left.
	over, done chan struct{}
	// dropping is closed when what is still written is to be thrown away.
	dropping chan struct{}
	// killed is closed when the group has been sent SIGKILL.
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
// sequence ends or Close is called; one of the two must happen.
func Start(c Command) (*Child, error) {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	path, err := resolve(c.Path, c.Dir, env)
	if err != nil {
		return nil, err
	}
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
	go child.supervise(procgroup.Spec{Path: path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: env}, c.BufferBytes, started)
	if err := <-started; err != nil {
		return nil, classify(path, c.Dir, err)
	}
	return child, nil
}

// supervise owns the process from its start to its end. It keeps its thread for that
// long: the parent-death signal of the leader hangs on the thread that started it.
func (c *Child) supervise(spec procgroup.Spec, bufferBytes int, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var reads, writes [2]*os.File
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	null, err := os.Open(os.DevNull)
	for i := 0; i < 2 && err == nil; i++ {
		reads[i], writes[i], err = os.Pipe()
	}
	if err == nil {
		spec.Files = [3]*os.File{null, writes[0], writes[1]}
		c.group, err = procgroup.Start(spec)
	}
	closeAll(null, writes[0], writes[1])
	if err != nil {
		closeAll(reads[:]...)
		started <- err
		return
	}
	c.readers[0] = newReader(c, pipeline.Stdout, reads[0], bufferBytes)
	c.readers[1] = newReader(c, pipeline.Stderr, reads[1], 0)
	var both sync.WaitGroup
	for _, r := range c.readers {
		both.Go(r.run)
	}
	go func() { both.Wait(); close(c.chunks) }()
	started <- nil

	code, err := c.group.Wait()
	if err != nil {
		code = 1
	}
	c.code = code
	close(c.exited)
	<-c.over
	c.endGroup()
	c.group.Release()
	closeAll(reads[:]...)
	both.Wait()
	close(c.done)
}

// endGroup ends what is left of the group once its leader has exited.
func (c *Child) endGroup() {
	c.mu.Lock()
	stopped := !c.stopped.IsZero()
	c.mu.Unlock()
	if !stopped {
		if !c.keepGroup {
			// Nothing is signalled from here on, so the number may be given back, and
			// one call tells that the group is empty, as it nearly always is.
			c.group.Kill()
			c.group.Release()
			if c.group.Exists() {
				c.awaitGone(nil)
			}
		}
		return
	}
	c.awaitGone(c.killed) // the grace
	c.mu.Lock()
	c.timer.Stop()
	c.mu.Unlock()
	select {
	case <-c.killed:
		c.awaitGone(nil)
	default:
	}
}

const (
	// pollGroup is how often the group is looked at while members remain, at the most:
	// the first looks come sooner, since most groups go at once.
	pollGroup = 20 * time.Millisecond
	// killPatience is how long killed processes may take to go. One in an
	// uninterruptible sleep would hold up everything for as long as it sleeps.
	killPatience = 2 * time.Second
)

// awaitGone waits until nothing of the group is alive: until stop is closed or, where
// stop is nil, for killPatience.
func (c *Child) awaitGone(stop <-chan struct{}) {
	var patience <-chan time.Time
	if stop == nil {
		t := time.NewTimer(killPatience)
		defer t.Stop()
		patience = t.C
	}
	wait := time.Millisecond
	tick := time.NewTimer(wait)
	defer tick.Stop()
	for c.group.Alive() {
		select {
		case <-tick.C:
			wait = min(2*wait, pollGroup)
			tick.Reset(wait)
		case <-stop:
			return
		case <-patience:
			return
		}
	}
}

// Pid returns the process id of the child, which leads its process group.
func (c *Child) Pid() int { return c.group.Pid() }

// Chunks yields what the child writes, in the order in which it is read. It returns when
// both pipes are closed and the child has exited, when pipes that something else holds
// have been read for [pipeline.DrainGrace] after that, or when the consumer or ctx ends
// it: then the group is stopped, and Chunks returns when the child has exited, at the
// latest when it was killed. The rest of the group is ended behind.
func (c *Child) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		var (
			chunks = c.chunks
			exited = c.exited
			done   = ctx.Done()
			drain  <-chan time.Time
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
				drain = t.C
			case <-drain:
				chunks = nil
			case <-done:
				if ctx.Err() == context.DeadlineExceeded && c.hasExited() {
					// The child ended before its time was over. What it wrote is still
					// read, within the grace, and the run ends as the child did.
					done = nil
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

func (c *Child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// stop begins the stop of the group, and waits for the leader's exit or for the kill.
func (c *Child) stop() {
	c.mu.Lock()
	if c.stopped.IsZero() && !c.ended {
		c.stopped = time.Now()
		close(c.dropping)
		c.group.Terminate()
		c.timer = time.AfterFunc(c.grace, c.kill)
	}
	c.mu.Unlock()
	select {
	case <-c.exited:
	case <-c.killed:
		// The kernel ends it at once, unless it sleeps uninterruptibly.
		t := time.NewTimer(killPatience)
		defer t.Stop()
		select {
		case <-c.exited:
		case <-t.C:
		}
	}
}

// kill runs when the grace is over.
func (c *Child) kill() {
	c.group.Kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.killed:
	default:
		close(c.killed)
	}
}

// Shorten lowers the grace of a stop that is under way or to come: the group is killed
// no later than d after the stop began. It never lengthens it.
func (c *Child) Shorten(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d >= c.grace {
		return
	}
	c.grace = d
	if c.timer != nil && c.timer.Stop() {
		c.timer = time.AfterFunc(max(0, d-time.Since(c.stopped)), c.kill)
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
	c.exit = pipeline.Exit{End: e, Code: 137} // killed, unless it is known
	if c.hasExited() {
		c.exit.Code = c.code
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

// Exit returns how the child ended. Code is 128 + n where signal n ended it.
func (c *Child) Exit() pipeline.Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exit
}

// Close stops the child if it still runs, waits until nothing of its group is left, and
// gives its buffers back. The error is always nil.
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
	return nil
}
