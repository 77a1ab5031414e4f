package compose

import "github.com/tailrace/tailrace/internal/backend"

// maxHeld bounds what is kept of one container to find its last lines, in bytes.
const maxHeld = 64 << 20

// A lastLines keeps the last n lines of a container.
type lastLines struct {
	n     int
	seen  int // how many there were
	items []backend.Item
	begin int // where in items the kept ones begin
	held  int // their bytes
}

// add adds a line.
func (k *lastLines) add(c *container, l line) {
	k.seen++
	b := batch{text: make([]byte, 0, len(l.text))}
	b.add(c, l)
	k.items = append(k.items, b.items[0])
	k.held += len(l.text)
	for k.begin < len(k.items) && (len(k.items)-k.begin > k.n || k.held > maxHeld) {
		k.held -= len(k.items[k.begin].Record.Line)
		k.items[k.begin] = backend.Item{}
		k.begin++
	}
	if k.begin > len(k.items)/2 {
		k.items = append(k.items[:0], k.items[k.begin:]...)
		k.begin = 0
	}
}

// last returns the lines in their order, and tells of those that took too much.
func (k *lastLines) last() []backend.Item {
	kept := k.items[k.begin:]
	if missing := min(k.seen, k.n) - len(kept); missing > 0 {
		return append([]backend.Item{{Notice: &backend.Notice{
			Dropped: missing, Message: "the last lines of a container took more than 64 MiB: the older ones of them are missing; ask for fewer",
		}}}, kept...)
	}
	return kept
}
