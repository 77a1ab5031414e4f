package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCaseG1_O2_DiesMidway(t *testing.T) {
	s := start(t, casePath(t, "g1-dies-midway.sh"))
	for _, r := range []result{s.call(tailTool, map[string]any{"maxMs": 5000}), s.call(snapshotTool, nil)} {
		r.wantFailure(t, 1)
		r.wantLogs(t, 4)
		if r.Structured.Stderr != "error: unexpected EOF\n" {
			t.Errorf("O6: stderr %q", r.Structured.Stderr)
		}
		if strings.Contains(r.Structured.Error.Message, "EOF") {
			t.Error("O6: the message repeats the output")
		}
	}
}

func TestCaseG2_O7_SlowThenHangs(t *testing.T) {
	t.Parallel()
	s := start(t, casePath(t, "g2-slow-then-hangs.py"))
	r := s.call(tailTool, map[string]any{"maxEvents": 100, "maxMs": 3000})
	r.wantCutoff(t, "time", 3000)
	r.wantLogs(t, 5)
	if r.Structured.Data.StopReason != "timeout" || strings.Count(r.Structured.Stdout, "\n") != 6 {
		t.Errorf("stop_reason %q, stdout %q", r.Structured.Data.StopReason, r.Structured.Stdout)
	}
}

func TestCaseG3_E8_ExactLimits(t *testing.T) {
	s := start(t, casePath(t, "g3-exact-limits.py"))
	for _, n := range []int{199, 200} {
		r := s.call(tailTool, map[string]any{"maxEvents": n, "maxMs": 60000})
		r.wantCutoff(t, "events", n)
		r.wantLogs(t, n)
		if r.Structured.Data.Count == 0 {
			t.Fatal("no events")
		}
		last := r.Structured.Data.Events[len(r.Structured.Data.Events)-1]
		if !strings.HasSuffix(r.Structured.Stdout, string(compact(t, last))+"\n") {
			t.Error("C6: stdout does not end right after the last event")
		}
	}
	r := s.call(tailTool, map[string]any{"maxEvents": 201, "maxMs": 60000})
	r.wantComplete(t, 200)
	if r.Structured.Data.StopReason != "eof" {
		t.Errorf("O8: stop_reason %q", r.Structured.Data.StopReason)
	}
}

func compact(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCaseJ1_B6_ViewBudget(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		// 1,000 logs of about 1 KB: the result stays under the limit, so nothing is touched.
		r := snapshotOf(t, "j1-view-budget.py", "SIZE=small")
		r.wantComplete(t, 1000)
		if r.Structured.OutputTruncated != nil {
			t.Error("B2: a flag on a small result")
		}
		if !bytes.Contains(r.raw, []byte(`"structuredContent":`+r.Content[0].Text)) {
			t.Error("B2: the channels are not the same JSON")
		}
	})
	t.Run("large", func(t *testing.T) {
		r := snapshotOf(t, "j1-view-budget.py", "SIZE=large")
		r.wantComplete(t, 6000)
		if !deref(r.Structured.OutputTruncated) {
			t.Error("B4: outputTruncated is not true")
		}
		v := r.view(t)
		if !deref(v.OutputTruncated) || v.Data.Cutoff == nil || *v.Data.Cutoff != (cutoff{"bytes", textViewLimit}) ||
			v.Data.Count >= 6000 || v.Data.Count == 0 || len(r.Content[0].Text) > textViewLimit {
			t.Errorf("B6: view %v %+v count %d in %d bytes", v.OutputTruncated, v.Data.Cutoff, v.Data.Count, len(r.Content[0].Text))
		}
		if next := r.Structured.Data.Events[v.Data.Count]; len(r.Content[0].Text)+len(next)+1 <= textViewLimit {
			t.Error("B7: one more event would have fitted the view")
		}
		for i, e := range v.Data.Events {
			if !bytes.Equal(e, r.Structured.Data.Events[i]) {
				t.Fatalf("B6: event %d of the view differs", i)
			}
		}
	})
}

func TestCaseJ2_O2_ErrorShape(t *testing.T) {
	s := start(t, casePath(t, "j2-error-shape.sh"))
	s.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	type tool struct {
		Name         string          `json:"name"`
		OutputSchema json.RawMessage `json:"outputSchema"`
		Annotations  struct {
			ReadOnlyHint bool `json:"readOnlyHint"`
		} `json:"annotations"`
	}
	var list struct {
		Tools []tool `json:"tools"`
	}
	if err := json.Unmarshal(s.reply(`"list"`, 5*time.Second).msg.Result, &list); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{snapshotTool, tailTool} {
		i := slices.IndexFunc(list.Tools, func(x tool) bool { return x.Name == name })
		if i < 0 {
			t.Fatalf("%s is not listed", name)
		}
		if len(list.Tools[i].OutputSchema) == 0 || !list.Tools[i].Annotations.ReadOnlyHint {
			t.Errorf("S4: %s has no output schema or no readOnlyHint", name)
		}
		r := s.call(name, nil)
		r.wantFailure(t, 3)
		r.wantLogs(t, 1)
	}
}

func TestCaseK1_S5_ArgumentValues(t *testing.T) {
	var rows []struct {
		Field  string
		Value  any
		Expect string
		Repeat *struct {
			Char  string
			Times int
		}
	}
	b, err := os.ReadFile(casePath(t, "k1-argument-values.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	s := start(t, casePath(t, "k1-echo-argv.py"))
	for _, row := range rows {
		value := row.Value
		if row.Repeat != nil {
			value = strings.Repeat(row.Repeat.Char, row.Repeat.Times)
		}
		t.Run(fmt.Sprintf("%s=%.30v", row.Field, value), func(t *testing.T) {
			tool := snapshotTool
			if row.Field == "maxEvents" || row.Field == "maxMs" {
				tool = tailTool
			}
			r := s.call(tool, map[string]any{row.Field: value})
			text := fmt.Sprint(value)
			if n, ok := value.(float64); ok {
				text = fmt.Sprintf("%v", int(n))
			}
			if !strings.HasPrefix(row.Expect, "accept") {
				check := text
				if len(check) < 3 {
					check = "" // too short to look for in a sentence
				}
				r.wantRefused(t, check)
				if !strings.Contains(r.Structured.Error.Message, row.Field) {
					t.Errorf("O11: the message does not name the argument: %q", r.Structured.Error.Message)
				}
				return
			}
			r.wantComplete(t, 1)
			entry := r.Structured.logs(t)[0]["entry"].(map[string]any)
			var argv []string
			for _, a := range entry["argv"].([]any) {
				argv = append(argv, a.(string))
			}
			if row.Field == "maxEvents" || row.Field == "maxMs" {
				return // these never reach the command
			}
			n := 0
			for _, a := range argv {
				if a == text && !strings.HasPrefix(text, "-") || a == "--"+row.Field+"="+text {
					n++
				}
			}
			if n != 1 {
				t.Errorf("S5: the value is not exactly one element of %q", argv)
			}
		})
	}
}

func TestCaseK2_O11_SpawnFailures(t *testing.T) {
	out, err := exec.Command(casePath(t, "k2-spawn-failures.sh")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var paths map[string]string
	if err := json.Unmarshal(out, &paths); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(strings.TrimSuffix(paths["missing"], "/none")) })
	reasons := map[string]bool{}
	for _, kind := range []string{"missing", "folder", "noexec", "badinterp", "empty"} {
		t.Run(kind, func(t *testing.T) {
			s := start(t, paths[kind])
			began := time.Now()
			r := s.call(snapshotTool, nil)
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("answered after %v", took)
			}
			r.wantRefused(t, paths[kind])
			if r.Structured.Error.Reason == "backend_error" {
				t.Error("O11: the error is not typed")
			}
			reasons[r.Structured.Error.Reason] = true
			s.ping(2 * time.Second)
		})
	}
	if len(reasons) < 4 {
		t.Errorf("O11: reasons are not told apart: %v", reasons)
	}
	t.Run("cwd", func(t *testing.T) {
		// The server's own folder is removed under it: the command is fine, its working directory is not.
		s := start(t, "/bin/true")
		if err := os.RemoveAll(s.cmd.Dir); err != nil {
			t.Fatal(err)
		}
		r := s.call(snapshotTool, nil)
		r.wantRefused(t, s.cmd.Dir)
		if strings.HasPrefix(r.Structured.Error.Reason, "command") {
			t.Errorf("O11: a missing folder reads as %q", r.Structured.Error.Reason)
		}
	})
}
