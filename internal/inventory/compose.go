package inventory

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	maxLine     = 4096
	maxBrackets = 1024
	// maxSteps bounds how many values of one file are looked at: aliases can make a small
	// file mean a very large one.
	maxSteps = 20_000
	maxChain = 16 // aliases of aliases, and merges of merges
)

var errCompose = errors.New("no compose file that can be read")

// services reads the services of a compose file. The tree is read by hand: a decoder
// would resolve all aliases, and its errors repeat lines of the file.
func (r *reader) services(text []byte) (services []Service, err error) {
	defer func() {
		// The parser has paniced on malformed input before. It works on this text alone,
		// so nothing else can be broken by it.
		if recover() != nil {
			services, err = nil, errCompose
		}
	}()
	if !plain(text) {
		return nil, errCompose
	}
	file, err := parser.ParseBytes(bytes.TrimPrefix(text, []byte("\ufeff")), 0)
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, errCompose
	}
	d := &document{anchors: map[string]ast.Node{}}
	ast.Walk(d, file.Docs[0].Body)
	services = []Service{}
	for _, top := range d.pairs(file.Docs[0].Body, 0) {
		if top.key != "services" {
			continue
		}
		for _, one := range d.pairs(top.value, 0) {
			if len(services) >= maxServices {
				r.out.LeftOut++
				continue
			}
			if name, ok := r.head(one.key, nameRE); ok {
				services = append(services, r.service(d, name, one.value))
			}
		}
	}
	if d.steps > maxSteps {
		return nil, errCompose
	}
	return services, nil
}

// plain says whether the parser can be trusted with a text. Its time grows with the
// square of a line's length and of the nesting.
func plain(text []byte) bool {
	if bytes.IndexByte(text, 0) >= 0 || bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return false
		}
	}
	return true
}

func (r *reader) service(d *document, name string, value ast.Node) Service {
	s := Service{Name: name}
	for _, p := range d.pairs(value, 0) {
		switch p.key {
		case "image":
			s.Image, _ = r.text(d.text(p.value), imageRE)
		case "build":
			s.Build = true
		case "ports", "expose":
			for _, item := range d.elements(p.value) {
				s.Ports = r.addPort(s.Ports, d.port(item))
			}
		case "environment":
			for _, item := range d.elements(p.value) {
				name, _, _ := strings.Cut(d.text(item), "=")
				s.Env = r.add(s.Env, name, composeEnvRE)
			}
			for _, variable := range d.pairs(p.value, 0) {
				s.Env = r.add(s.Env, variable.key, composeEnvRE)
			}
		case "profiles":
			for _, item := range d.elements(p.value) {
				s.Profiles = r.add(s.Profiles, d.text(item), nameRE)
			}
		}
	}
	return s
}

// A document is a parsed file with its anchors.
type document struct {
	anchors map[string]ast.Node
	steps   int
}

type pair struct {
	key   string
	value ast.Node
}

// Visit notes the anchors.
func (d *document) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		d.anchors[a.Name.GetToken().Value] = a.Value
	}
	return d
}

// value follows anchors, aliases and tags to what they stand for; nil for nothing.
func (d *document) value(n ast.Node) ast.Node {
	for range maxChain {
		if d.steps++; d.steps > maxSteps {
			return nil
		}
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			n = d.anchors[v.Value.GetToken().Value]
		case *ast.TagNode:
			n = v.Value
		default:
			return n
		}
	}
	return nil
}

// pairs returns the members of a mapping, with those that are merged into it behind its
// own. Of anything else there are none.
func (d *document) pairs(n ast.Node, depth int) []pair {
	var values []*ast.MappingValueNode
	switch m := d.value(n).(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	}
	var own, merged []pair
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); !merge {
			own = append(own, pair{d.text(v.Key), v.Value})
			continue
		}
		if depth >= maxChain {
			continue
		}
		if list := d.elements(v.Value); list != nil {
			for _, item := range list {
				merged = append(merged, d.pairs(item, depth+1)...)
			}
			continue
		}
		merged = append(merged, d.pairs(v.Value, depth+1)...)
	}
	if d.steps += len(own) + len(merged); d.steps > maxSteps {
		return nil
	}
	seen := make(map[string]bool, len(own))
	for _, p := range own {
		seen[p.key] = true
	}
	for _, p := range merged {
		if !seen[p.key] {
			seen[p.key] = true
			own = append(own, p)
		}
	}
	return own
}

// elements returns the elements of a list; nil for anything else.
func (d *document) elements(n ast.Node) []ast.Node {
	s, ok := d.value(n).(*ast.SequenceNode)
	if !ok {
		return nil
	}
	if d.steps += len(s.Values); d.steps > maxSteps {
		return nil
	}
	return s.Values
}

// text returns a scalar as it is written; "" for anything else.
func (d *document) text(n ast.Node) string {
	switch s := d.value(n).(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return s.GetToken().Value
	}
	return ""
}

// port returns a port mapping in the short form.
func (d *document) port(n ast.Node) string {
	if text := d.text(n); text != "" {
		return text
	}
	var target, published string
	for _, p := range d.pairs(n, 0) {
		switch p.key {
		case "target":
			target = d.text(p.value)
		case "published":
			published = d.text(p.value)
		}
	}
	if published == "" {
		return target
	}
	return published + ":" + target
}
