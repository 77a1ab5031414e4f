package stages

import "iter"

// An EventList holds events in their order, compactly: events that lie in one buffer
// with a single LF between them, as captured lines do, share one entry. The zero value
// is an empty list. It is not safe for concurrent use while events are appended.
type EventList struct {
	n int
}

// Append adds an event. The list keeps Raw, or a copy of it where that is smaller.
func (l *EventList) Append(e Event) { panic("stub") }

// Len returns the number of events.
func (l *EventList) Len() int { return l.n }

// Size returns the length in bytes of the first n events as they are written: joined by
// commas, without brackets.
func (l *EventList) Size(n int) int { panic("stub") }

// AppendJSON appends the first n events to dst, joined by commas, without brackets.
func (l *EventList) AppendJSON(dst []byte, n int) []byte { panic("stub") }

// All yields the events' raw objects in order.
func (l *EventList) All() iter.Seq[[]byte] { panic("stub") }
