package bench

import (
	"bufio"
	"encoding/json"
	"io"
)

// Naive is the plain way to do the same work, as it is written when nobody measures:
// a scanner, a map for each line, one marshal for each channel. It has no bound on
// bytes, splits no code point only because it never cuts, and knows no budget.
func Naive(r io.Reader, maxEvents int) ([]byte, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	var stdout []byte
	events := []map[string]any{}
	logs := 0
	for sc.Scan() {
		stdout = append(append(stdout, sc.Bytes()...), '\n')
		var e map[string]any
		if json.Unmarshal(sc.Bytes(), &e) != nil {
			continue
		}
		events = append(events, e)
		if e["type"] == "log" {
			if logs++; logs == maxEvents {
				break
			}
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	structured := map[string]any{
		"ok": true, "command": "naive", "exitCode": 0, "stdout": string(stdout), "stderr": "",
		"data": map[string]any{"events": events, "count": len(events), "cutoff": nil},
	}
	text, err := json.Marshal(structured)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"content":           []any{map[string]any{"type": "text", "text": string(text)}},
		"structuredContent": structured,
	})
}
