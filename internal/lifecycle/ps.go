package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// A Status is the containers of one instance.
type Status struct {
	Project        string  `json:"project"`
	Branch         *string `json:"branch"`
	ComposeProject string  `json:"composeProject"`
	// Items are the containers, as Docker Compose reports them.
	Items []json.RawMessage `json:"items"`
}

// Ps returns the containers of an instance, those that have ended included.
func (d *Docker) Ps(ctx context.Context, t *Target) (*Status, error) {
	out, code, err := d.output(ctx, t.set.Dir, t.args("ps", "--all", "--format", "json"))
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, d.explain(ctx, code)
	}
	items, err := objects(out)
	if err != nil {
		return nil, err
	}
	return &Status{Project: t.Name, Branch: t.branchOrNull(), ComposeProject: t.ComposeProject, Items: items}, nil
}

// ShowPs lets Docker Compose show the containers for people.
func (d *Docker) ShowPs(ctx context.Context, t *Target, io Stdio) error {
	code, err := d.compose(ctx, t, io, "ps", "--all")
	if err == nil && code != 0 {
		err = d.explain(ctx, code)
	}
	return err
}

// objects reads JSON objects, one after the other or in lists, as Compose has written them
// in one version or another. The error is [ErrOutput].
func objects(data []byte) ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var v json.RawMessage
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, ErrOutput
		}
		switch v[0] {
		case '{':
			out = append(out, v)
		case '[':
			var list []json.RawMessage
			if json.Unmarshal(v, &list) != nil {
				return nil, ErrOutput
			}
			out = append(out, list...)
		default:
			return nil, ErrOutput
		}
	}
}
