package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema/*.json
var schemas embed.FS

// The published schemas.
const (
	serverSchema   = "schema/server-2025-12-11.schema.json"
	manifestSchema = "schema/mcpb-manifest-v0.3.schema.json"
)

// validate says whether a document is what a published schema asks for. Formats such as
// uri are checked, too.
func validate(schema string, document []byte) error {
	text, err := schemas.ReadFile(schema)
	if err != nil {
		return err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(schema, parsed); err != nil {
		return err
	}
	compiled, err := c.Compile(schema)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("the document does not follow %s: %w", schema, err)
	}
	return nil
}

// A document is a JSON object whose members keep their order, as far as they are not
// replaced.
type document struct {
	names  []string
	values map[string]json.RawMessage
}

func parseDocument(text []byte) (*document, error) {
	d := &document{values: map[string]json.RawMessage{}}
	if err := json.Unmarshal(text, &d.values); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return nil, err
		}
		d.names = append(d.names, name.(string))
	}
	return d, nil
}

// set replaces a member, or adds it at the end.
func (d *document) set(name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if _, ok := d.values[name]; !ok {
		d.names = append(d.names, name)
	}
	d.values[name] = raw
	return nil
}

// text returns the document, indented.
func (d *document) text() ([]byte, error) {
	var flat, out bytes.Buffer
	for i, name := range d.names {
		if i > 0 {
			flat.WriteByte(',')
		}
		fmt.Fprintf(&flat, "%q:%s", name, d.values[name])
	}
	err := json.Indent(&out, []byte("{"+flat.String()+"}"), "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}
