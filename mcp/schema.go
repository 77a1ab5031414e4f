package mcp

import (
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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
	s := &schema{Type: "string", Description: f.describe()}
	switch f.kind {
	case kindName:
		s.MinLength, s.MaxLength, s.Pattern = 1, maxName, namePattern
	case kindNames:
		one := &schema{Type: "string", MinLength: 1, MaxLength: maxName, Pattern: namePattern}
		s.Type = ""
		s.AnyOf = []*schema{one, {Type: "array", Items: one, MaxItems: maxNames}}
	case kindBranch:
		s.MinLength, s.MaxLength, s.Pattern = 1, maxName, branchPattern
	case kindInstant:
		s.MinLength, s.MaxLength, s.Pattern = 1, maxTime, timePattern
	case kindInteger:
		s.Type, s.Minimum, s.Maximum = "integer", 1, f.max
	case kindBoolean:
		s.Type = "boolean"
	case kindKey:
		s.MinLength, s.MaxLength, s.Pattern = 1, maxName, keyPattern
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
			"ok":              {Type: "boolean", Description: "Whether the call succeeded. Go by this, not by exitCode."},
			"outputTruncated": {Type: "boolean", Description: "True where output was cut by a limit on bytes; absent otherwise."},
			"command":         {Type: "string", Description: "The command line that was run; empty where none was."},
			"exitCode":        {Type: "integer", Description: "Exit code of the command, 128 + n after signal n. Often not 0 after a cutoff, since the server stopped the command."},
			"stdout":          {Type: "string", Description: "Raw output. It repeats the events, and is cut before any of them."},
			"stderr":          {Type: "string", Description: "Raw diagnostics, or why the call was refused."},
			"spawned":         {Const: false, Description: "False where no command was started; absent otherwise."},
			"error": {
				Type:        "object",
				Description: "Present exactly where ok is false for a reason that has a code.",
				Properties: map[string]*schema{
					"code":    {Type: "string", Description: "The class of the error, such as E_USAGE."},
					"reason":  {Type: "string", Description: "The error within its class, such as invalid_arguments or backend_error."},
					"message": {Type: "string", Description: "What happened and what to do."},
				},
				Required: []string{"code", "reason", "message"},
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
