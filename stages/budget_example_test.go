package stages_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/stages"
)

func ExampleBudget_AppendResult() {
	var events stages.EventList
	var stdout strings.Builder
	for i := range 40 {
		line := fmt.Sprintf(`{"type":"log","n":%d}`, i)
		events.Append(stages.Event{Raw: []byte(line), Kind: stages.KindLog})
		stdout.WriteString(line + "\n")
	}
	p := &stages.Payload{
		OK: true, Command: "hack logs --json",
		Stdout: []byte(stdout.String()),
		Log:    &stages.LogData{Events: &events},
	}

	result, fit := stages.Budget{}.AppendResult(nil, p)
	fmt.Println("default limits:", fit.Cut, fit.Events, fit.Bytes == len(result))

	result, fit = stages.Budget{MaxBytes: 2000, ViewBytes: 400}.AppendResult(nil, p)
	fmt.Println("small limits:", fit.Cut, fit.Events, fit.ViewEvents, len(result) <= 2000)
	// Output:
	// default limits: false 40 true
	// small limits: true 40 4 true
}

func ExampleBudget_Stage() {
	payloads := slices.Values([]*stages.Payload{
		{OK: true, Command: "hack up", Stdout: []byte("started\n")},
		{OK: true, Command: "hack run", Stdout: bytes.Repeat([]byte("line\n"), 1000)},
	})
	for result := range (stages.Budget{MaxBytes: 2000, ViewBytes: 400}).Stage()(payloads) {
		fmt.Println(len(result) <= 2000, bytes.Contains(result, []byte(`"outputTruncated":true`)))
	}
	// Output:
	// true false
	// true true
}

func ExampleAppendPayload() {
	p := &stages.Payload{OK: true, Command: "hack open", Data: []byte(`{"url":"http://shop.localhost"}`)}
	fmt.Printf("%s\n", stages.AppendPayload(nil, p))
	// Output:
	// {"ok":true,"command":"hack open","exitCode":0,"stdout":"","stderr":"","data":{"url":"http://shop.localhost"}}
}
