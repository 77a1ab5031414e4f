package stages

// A Budget fits results into a size on the wire. The zero value has the limits of the
// contract. It is a plain value and safe for concurrent use.
type Budget struct {
	// MaxBytes is the largest serialized result; 0 means [pipeline.ResultLimit].
	MaxBytes int
	// ViewBytes is the largest text view of a result that was cut; 0 means [pipeline.TextViewLimit].
	ViewBytes int
	// StderrFloor is how much of stderr is kept while events are dropped; 0 means [pipeline.StderrFloor].
	StderrFloor int
}

// A Fit says what a budget did to a result.
type Fit struct {
	// Bytes is the size of the result, as counted before it was written.
	Bytes int
	// Cut says that structuredContent was cut, ViewCut that the text view was.
	Cut, ViewCut bool
	// Events and ViewEvents are how many events each channel holds.
	Events, ViewEvents int
}

// AppendResult appends p to dst as the JSON of a tool result (content, structuredContent,
// isError), cut to the budget.
func (b Budget) AppendResult(dst []byte, p *Payload) ([]byte, Fit) { panic("stub") }

// AppendPayload appends p to dst as one JSON object, without any budget.
func AppendPayload(dst []byte, p *Payload) []byte { panic("stub") }
