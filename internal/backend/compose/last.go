package compose

import (
	"sync/atomic"

	"github.com/tailrace/tailrace/internal/backend"
)

// maxHeld bounds what is kept of all containers to find their last lines, in bytes.
const maxHeld = 128 << 20

// A lastLines keeps the last n lines of a container.
type lastLines struct {
	n     int
	all   *atomic.Int64 // the bytes that are kept of all containers
	seen  int           // how many there were
	items []backend.Item
	begin int // where in items the kept ones begin
}

// add adds a line.
func (k *lastLines) add(c *container, l line) {
	k.seen++
	b := batch{text: make([]byte, 0, len(l.text))}
	b.add(c, l)
	k.items = append(k.items, b.items[0])
	k.all.Add(int64(len(l.text)))
	for k.begin < len(k.items) && (len(k.items)-k.begin > k.n || k.all.Load() > maxHeld) {
		k.drop()
	}
	if k.begin > len(k.items)/2 {
		k.items = append(k.items[:0], k.items[k.begin:]...)
		k.begin = 0
	}
}

// drop lets the oldest line go.
func (k *lastLines) drop() {
	k.all.Add(-int64(len(k.items[k.begin].Record.Line)))
	k.items[k.begin] = backend.Item{}
	k.begin++
}

// clear lets all lines go.
func (k *lastLines) clear() {
	for k.begin < len(k.items) {
		k.drop()
	}
}

// last returns the lines in their order, and tells of those that took too much.
func (k *lastLines) last() []backend.Item {
	kept := k.items[k.begin:]
	if missing := min(k.seen, k.n) - len(kept); missing > 0 {
		return append([]backend.Item{{Notice: &backend.Notice{
			Dropped: missing, Message: "the last lines of the containers took more than 128 MiB: older ones are missing; ask for fewer lines or services",
		}}}, kept...)
	}
	return kept
}
