package mcp

import (
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/pipeline"
)

// A schema is what is used of JSON Schema. Members are written in this order.
type schema struct {
	Type        string             `json:"type,omitempty"`
	Description string             `json:"description,omitempty"`
	Const       any                `json:"const,omitempty"`
	Minimum     int                `json:"minimum,omitempty"`
	Maximum     int                `json:"maximum,omitempty"`
	MinLength   int                `json:"minLength,omitempty"`
	MaxLength   int                `json:"maxLength,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	MinItems    int                `json:"minItems,omitempty"`
	MaxItems    int                `json:"maxItems,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Additional  *bool              `json:"additionalProperties,omitempty"`
}

// schema returns what the field takes. It never refuses what the check accepts; the
// check knows a little more, and the description says all of it.
func (f *field) schema() *schema {
	s := &schema{Type: "string", Description: f.brief()}
	switch f.kind {
	case kindName:
		s.MaxLength, s.Pattern = maxName, namePattern
	case kindNames:
		one := &schema{Type: "string", MaxLength: maxName, Pattern: namePattern}
		s.Type = ""
		s.AnyOf = []*schema{one, {Type: "array", Items: one, MaxItems: maxNames}}
	case kindBranch:
		s.MaxLength, s.Pattern = maxName, branchPattern
	case kindInstant:
		s.MaxLength, s.Pattern = maxTime, timePattern
	case kindInteger:
		s.Type, s.Minimum, s.Maximum = "integer", 1, f.max
	case kindBoolean:
		s.Type = "boolean"
	case kindKey:
		s.MaxLength, s.Pattern = maxName, keyPattern
	case kindChoice:
		s.Enum = f.choices
	case kindWords:
		s.Type, s.Items, s.MaxItems = "array", &schema{Type: "string"}, maxWords
		if f.required {
			s.MinItems = 1
		}
	default:
		s.MaxLength = f.max
	}
	return s
}

// brief returns the meaning of the field for a client that has its schema before it: with
// its bounds where they matter to a choice, its form where the pattern is hard to read,
// and its fallback. The whole rule is in the documentation, and in each refusal.
func (f *field) brief() string {
	switch f.kind {
	case kindInteger:
		if f.fallback != 0 {
			return fmt.Sprintf("%s 1 to %d, default %d.", f.about, f.max, f.fallback)
		}
		return fmt.Sprintf("%s 1 to %d.", f.about, f.max)
	case kindNames:
		return f.about + " One name or a list."
	case kindInstant:
		return f.about + " RFC 3339, a duration such as 15m, or now."
	}
	return f.about
}

// describe returns the meaning of the field with its rule and its fallback.
func (f *field) describe() string {
	text := fmt.Sprintf("%s It %s.", f.about, f.rule())
	switch {
	case f.fallback != 0:
		text += fmt.Sprintf(" Default: %d.", f.fallback)
	case f.kind == kindBoolean:
		text += " Default: false."
	}
	return text
}

// input returns the schema of the tool's arguments.
func (t *tool) input() *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}, Additional: new(bool)}
	for _, f := range t.fields {
		s.Properties[f.name] = f.schema()
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// output returns the schema of the structured content, which all tools share. Data is
// open: it forwards what the command says.
func (t *tool) output() *schema {
	data := t.data.about()
	s := &schema{
		Type: "object",
		Properties: map[string]*schema{
			"ok":              {Type: "boolean", Description: "Go by this, not by exitCode."},
			"outputTruncated": {Type: "boolean", Description: "Output was cut by a limit on bytes."},
			"command":         {Type: "string"},
			"exitCode":        {Type: "integer"},
			"stdout":          {Type: "string"},
			"stderr":          {Type: "string", Description: "Diagnostics, or why the call was refused."},
			"spawned":         {Const: false, Description: "Present where no command was started."},
			"error": {
				Type:       "object",
				Properties: map[string]*schema{"code": {Type: "string"}, "reason": {Type: "string"}, "message": {Type: "string"}},
				Required:   []string{"code", "reason", "message"},
			},
		},
		Required: []string{"ok", "command", "exitCode", "stdout", "stderr"},
	}
	if data != "" {
		s.Properties["data"] = &schema{Description: data}
	}
	return s
}

// describe returns the tool as tools/list shows it.
func (t *tool) describe() (*sdk.Tool, error) {
	input, err := json.Marshal(t.input())
	if err != nil {
		return nil, err
	}
	output, err := json.Marshal(t.output())
	if err != nil {
		return nil, err
	}
	return &sdk.Tool{
		Name:         t.name,
		Title:        t.title,
		Description:  t.about,
		InputSchema:  json.RawMessage(input),
		OutputSchema: json.RawMessage(output),
		Annotations:  t.annotations(),
		Meta:         t.meta(),
	}, nil
}

// annotations are the hints of the tool.
func (t *tool) annotations() *sdk.ToolAnnotations {
	a := &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: t.readOnly, IdempotentHint: t.readOnly}
	if !t.readOnly {
		a.DestructiveHint = &t.destructive
	}
	return a
}

// resultSize is the member of a tool's _meta by which Claude Code is told how many
// characters of text it may take from a result before it puts them in a file and shows
// the model their beginning. Its own default is 50,000, the most it takes 500,000; the
// documentation of that client describes it. Other clients leave it alone.
const resultSize = "anthropic/maxResultSizeChars"

// meta is what the tool tells of itself to clients that know the member: where a result
// can be large, its text is as long as the view that a large one is cut to.
func (t *tool) meta() sdk.Meta {
	if !t.data.large() {
		return nil
	}
	return sdk.Meta{resultSize: pipeline.TextViewLimit}
}
