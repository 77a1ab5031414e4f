package mcp

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

func TestS4_ToolList(t *testing.T) {
	s := start(t, "argv")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var got bytes.Buffer
	if err := json.Indent(&got, s.reply("1").Result, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	const golden = "testdata/tools.json"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("S4: the list of tools is not that of %s:\n%s", golden, got.String())
	}
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
		}
	}
	if err := json.Unmarshal(want, &list); err != nil {
		t.Fatal(err)
	}
	changing := []string{"hack.project.up", "hack.project.down", "hack.project.restart", "hack.project.run", "hack.project.exec", "hack.project.init"}
	for _, tool := range list.Tools {
		if tool.Annotations.ReadOnlyHint == slices.Contains(changing, tool.Name) {
			t.Errorf("S4: %s is marked wrongly", tool.Name)
		}
	}
	if len(list.Tools) != 15 {
		t.Errorf("%d tools", len(list.Tools))
	}
}

// TestSchemaAgrees checks that the schema refuses nothing that the check accepts, and
// nearly all that it refuses.
func TestSchemaAgrees(t *testing.T) {
	long := strings.Repeat("a", 254)
	values := []string{`"web"`, `"web-1_a.b"`, `"-f"`, `"a/b"`, `"a..b"`, `"a/"`, `""`, `"` + long + `"`, `"` + long[1:] + `"`, `"é"`, `"a b"`, `"a\n"`,
		`1`, `1.0`, `0`, `-1`, `1.5`, `10000`, `10001`, `60000`, `60001`, `true`, `false`, `null`, `[]`, `["a","b"]`, `["a",1]`, `{}`,
		`"now"`, `"NOW"`, `"5m"`, `"5 m"`, `"0m"`, `"1h30m"`, `"2026-01-02"`, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.5+01:00"`, `"2026-13-02"`, `"2026-01-02T03:04:05"`}
	known := []string{`a..b`, `a/`, `0m`, `2026-13-02`} // what only the check knows
	for _, tool := range tools() {
		for _, f := range tool.fields {
			for _, v := range values {
				_, ok := f.parse(json.RawMessage(v))
				schema := fits(t, f.schema(), json.RawMessage(v))
				if ok && !schema {
					t.Errorf("%s: the schema refuses %s", f.name, v)
				}
				if !ok && schema && !slices.Contains(known, strings.Trim(v, `"`)) {
					t.Errorf("%s: the schema accepts %s", f.name, v)
				}
			}
		}
	}
}

// fits is as much of JSON Schema as the table uses.
func fits(t *testing.T, s *schema, raw json.RawMessage) bool {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if len(s.AnyOf) > 0 {
		return slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return fits(t, one, raw) })
	}
	switch v := v.(type) {
	case string:
		n := len([]rune(v))
		return s.Type == "string" && (s.Enum == nil || slices.Contains(s.Enum, v)) && n >= s.MinLength && (s.MaxLength == 0 || n <= s.MaxLength) &&
			(s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(v))
	case float64:
		return s.Type == "integer" && v == float64(int(v)) && int(v) >= s.Minimum && int(v) <= s.Maximum
	case bool:
		return s.Type == "boolean"
	case []any:
		if s.Type != "array" || len(v) > s.MaxItems || len(v) < s.MinItems {
			return false
		}
		for _, item := range v {
			one, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			if !fits(t, s.Items, one) {
				return false
			}
		}
		return true
	}
	return false
}

func TestIsTime(t *testing.T) {
	for _, s := range []string{"now", "Now", "5m", "15M", "1s", "36h", "7d", "2w", "2026-01-02", "2026-01-02T03:04:05Z", "2024-02-29T23:59:59.123456789-07:00"} {
		if !isTime(s) {
			t.Errorf("%s is refused", s)
		}
	}
	for _, s := range []string{"", "5", "m", "0s", "00h", "-5m", "+5m", "1.5h", "5ms", "1h30m", "2026-1-2", "2026-02-29", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05",
		"2026-01-02T24:00:00Z", "now\n", "5m\x00", "99999999999999m", strings.Repeat("1", 70) + "m"} {
		if isTime(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestBounds(t *testing.T) {
	if got := tools()[0].timeout; got != 120*time.Second {
		t.Errorf("O7: the bound of a snapshot is %v", got)
	}
}
