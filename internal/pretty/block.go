package pretty

import (
	"bytes"
	"encoding/json"

	"github.com/tailrace/tailrace/internal/logline"
)

// The bounds of a block. What is longer is no JSON text that a person wrote to be read.
const (
	maxBlockLines = 200
	maxBlockBytes = 64_000
)

// A Key says which lines can belong together: those of one stream of one container.
type Key struct{ Source, Service, Instance, Stream string }

// A Block is lines that belong together: a JSON text that was written over several lines.
type Block struct {
	// First is the record of the first line.
	First logline.Record
	// Lines are the lines, copied.
	Lines [][]byte

	bytes int
	idle  bool
}

// Blocks collects the lines of JSON texts, so that no other line stands between them. The
// zero value is ready. It is for one goroutine at a time.
type Blocks struct {
	held  map[Key]*Block
	order []Key // of held, by their first line
}

// Add takes a line, and returns what is now complete, in order: blocks, or the line alone
// as a block of one. A line that may begin a JSON text, or go on with one, is held.
func (b *Blocks) Add(key Key, r logline.Record) (done []*Block) {
	text := bytes.TrimSpace(r.Line)
	block := b.held[key]
	if block == nil {
		if !opens(text) {
			return []*Block{{First: r, Lines: [][]byte{r.Line}}}
		}
		block = &Block{First: r}
		block.First.Line = bytes.Clone(r.Line)
		if b.held == nil {
			b.held = map[Key]*Block{}
		}
		b.held[key], b.order = block, append(b.order, key)
	} else if !continues(text) {
		done = append(done, b.take(key))
		return append(done, b.Add(key, r)...)
	}
	block.Lines = append(block.Lines, bytes.Clone(r.Line))
	block.bytes += len(r.Line) + 1
	block.idle = false
	if closes(text) && block.complete() || len(block.Lines) >= maxBlockLines || block.bytes >= maxBlockBytes {
		done = append(done, b.take(key))
	}
	return done
}

// opens says whether a line begins a JSON text that does not end on it.
func opens(text []byte) bool {
	return len(text) > 0 && len(text) < maxBlockBytes && (text[0] == '{' || text[0] == '[') && !json.Valid(text) && plausible(text)
}

// plausible says whether what follows the bracket can be JSON: a log line such as
// "[info] started" is none.
func plausible(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t")
	if len(rest) == 0 {
		return true
	}
	if text[0] == '{' {
		return rest[0] == '"'
	}
	return bytes.IndexByte([]byte(`"{[`), rest[0]) >= 0
}

// continues says whether a line can go on with a JSON text.
func continues(text []byte) bool {
	if len(text) == 0 || bytes.IndexByte([]byte(`{}[]",`), text[0]) >= 0 {
		return true
	}
	// A number, true, false or null in a list.
	value := bytes.TrimSuffix(text, []byte{','})
	return json.Valid(value)
}

func closes(text []byte) bool {
	return len(text) > 0 && (text[len(text)-1] == '}' || text[len(text)-1] == ']')
}

// complete says whether the lines are a whole JSON text.
func (b *Block) complete() bool { return json.Valid(bytes.Join(b.Lines, []byte{'\n'})) }

// take removes a block from those that are held.
func (b *Blocks) take(key Key) *Block {
	block := b.held[key]
	delete(b.held, key)
	for i, k := range b.order {
		if k == key {
			b.order = append(b.order[:i], b.order[i+1:]...)
			break
		}
	}
	return block
}

// Holding says whether lines are held.
func (b *Blocks) Holding() bool { return len(b.order) > 0 }

// Idle returns the blocks that no line was added to since the last call: whoever wrote them
// has stopped in the middle.
func (b *Blocks) Idle() (done []*Block) {
	for _, key := range append([]Key(nil), b.order...) {
		if block := b.held[key]; block.idle {
			done = append(done, b.take(key))
		} else {
			block.idle = true
		}
	}
	return done
}

// End returns all blocks of a source, or all of them for "".
func (b *Blocks) End(source string) (done []*Block) {
	for _, key := range append([]Key(nil), b.order...) {
		if source == "" || key.Source == source {
			done = append(done, b.take(key))
		}
	}
	return done
}
