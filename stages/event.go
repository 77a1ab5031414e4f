package stages

// A Kind is the class of an event, by its top-level type member.
type Kind uint8

const (
	// KindOther: no type, a type that is no string, or one that is not listed here.
	KindOther Kind = iota
	// KindLog is the only kind that counts toward the event bound.
	KindLog
	// KindStart, KindHeartbeat, KindError and KindEnd frame the logs.
	KindStart
	KindHeartbeat
	KindError
	KindEnd
)

// A Reason is the class of an event's top-level reason member.
type Reason uint8

const (
	// ReasonNone: there is no reason member.
	ReasonNone Reason = iota
	// ReasonClean: the reason is the string eof or closed.
	ReasonClean
	// ReasonOther: the reason is anything else, also null or a number.
	ReasonOther
)

// An Event is one line that is one JSON object.
type Event struct {
	// Raw is the object as it was written, without the white space around it: strict
	// JSON, valid UTF-8, no LF and no CR. It stays valid until the source is closed.
	Raw []byte
	// Kind and Reason are what the last type and reason members say.
	Kind   Kind
	Reason Reason
}
