package journal

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
)

// fields are the fields that are asked for. The cursor and the times come with them.
const fields = "MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,UNIT,USER_UNIT,_SYSTEMD_UNIT,_SYSTEMD_USER_UNIT,_PID,_HOSTNAME,_TRANSPORT"

// A value is a field as the journal exports it: text, bytes, several of them, or null.
type value struct{ text []byte }

// UnmarshalJSON never fails: what is no text is empty.
func (v *value) UnmarshalJSON(data []byte) error {
	v.text = textOf(data)
	return nil
}

func textOf(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	switch data[0] {
	case '"':
		var s string
		if json.Unmarshal(data, &s) == nil {
			return []byte(s)
		}
	case '[':
		// Bytes, where it is not valid UTF-8 or not printable. As numbers, since a []byte
		// would be read as base64.
		var numbers []uint16
		if json.Unmarshal(data, &numbers) == nil {
			b := make([]byte, len(numbers))
			for i, n := range numbers {
				b[i] = byte(n)
			}
			return b
		}
		// A field that was given several times: the values are put together, by lines.
		var several []json.RawMessage
		if json.Unmarshal(data, &several) == nil {
			var b []byte
			for i, one := range several {
				if i > 0 {
					b = append(b, '\n')
				}
				if len(one) > 0 && (one[0] != '[' || !nested(one)) {
					b = append(b, textOf(one)...)
				}
			}
			return b
		}
	}
	return nil
}

// nested says whether an array holds something else than numbers. The journal writes none
// such inside another array, and depth is not followed.
func nested(data []byte) bool {
	for _, c := range data[1:] {
		if c == '[' || c == '"' || c == '{' {
			return true
		}
	}
	return false
}

func (v value) String() string { return string(v.text) }

type entry struct {
	Cursor     string `json:"__CURSOR"`
	Realtime   string `json:"__REALTIME_TIMESTAMP"`
	Message    *value `json:"MESSAGE"`
	Priority   value  `json:"PRIORITY"`
	Identifier value  `json:"SYSLOG_IDENTIFIER"`
	AboutUnit  value  `json:"UNIT"`
	AboutUser  value  `json:"USER_UNIT"`
	Unit       value  `json:"_SYSTEMD_UNIT"`
	UserUnit   value  `json:"_SYSTEMD_USER_UNIT"`
	PID        value  `json:"_PID"`
	Host       value  `json:"_HOSTNAME"`
	Transport  value  `json:"_TRANSPORT"`
}

// record reads one line of journalctl. It is false for what is no entry, such as an entry
// without a message.
func record(line []byte) (r logline.Record, cursor string, ok bool) {
	var e entry
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Message == nil {
		return r, e.Cursor, false
	}
	r.Line = e.Message.text
	if us, err := strconv.ParseInt(e.Realtime, 10, 64); err == nil {
		r.Time = time.UnixMicro(us)
	}
	r.Service = e.service()
	r.Level = level(e.Priority.String())
	labels := map[string]string{}
	for name, v := range map[string]value{"identifier": e.Identifier, "pid": e.PID, "host": e.Host, "transport": e.Transport} {
		if len(v.text) > 0 {
			labels[name] = v.String()
		}
	}
	if len(labels) > 0 {
		r.Labels = labels
	}
	return r, e.Cursor, true
}

// service names what wrote the entry: the unit; for what systemd itself says about a unit,
// that unit; without any, the identifier of syslog.
func (e *entry) service() string {
	unit := e.Unit.String()
	// Only fields with an underscore are the journal's own: any program can set the others.
	switch {
	case unit == "init.scope" && len(e.AboutUnit.text) > 0:
		return e.AboutUnit.String()
	case e.UserUnit.String() == "init.scope" && len(e.AboutUser.text) > 0:
		return e.AboutUser.String()
	case len(e.UserUnit.text) > 0:
		return e.UserUnit.String()
	case unit != "":
		return unit
	}
	return e.Identifier.String()
}

// level maps the priorities of syslog; "" for what is none.
func level(priority string) string {
	switch priority {
	case "0", "1", "2", "3":
		return "error"
	case "4":
		return "warn"
	case "5", "6":
		return "info"
	case "7":
		return "debug"
	}
	return ""
}
