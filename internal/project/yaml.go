package project

import (
	"bytes"
	"errors"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A node is a YAML value with the place where it begins.
type node struct {
	ast.Node
}

// A pair is one member of a mapping.
type pair struct {
	key   string
	at    node
	value node
}

// parseYAML returns the one document of a file; its Node is nil where there is none.
//
// The tree is read by hand instead of being decoded into structs, since the errors of
// the decoder repeat the lines that they are about.
func parseYAML(data []byte) (root node, err error) {
	defer func() {
		// The parser has paniced on malformed input before. It works on this text alone,
		// so nothing else can be broken by it.
		if recover() != nil {
			root, err = node{}, &ConfigError{Problem: "is not valid YAML"}
		}
	}()
	file, err := parser.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")), 0)
	if err != nil {
		problem := &ConfigError{Problem: "is not valid YAML here"}
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			problem.Line, problem.Column = place(syntax.GetToken())
		}
		return node{}, problem
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root.Node != nil {
			return node{}, node{doc.Body}.problem("only one document can be in the file: remove what follows ---")
		}
		root.Node = doc.Body
	}
	return root, nil
}

func place(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

func (n node) problem(text string) *ConfigError {
	e := &ConfigError{Problem: text}
	if n.Node != nil {
		e.Line, e.Column = place(n.GetToken())
	}
	return e
}

func (n node) isNull() bool {
	_, null := n.Node.(*ast.NullNode)
	return null || n.Node == nil
}

// check refuses what lets a value be something other than what is written there.
func (n node) check() error {
	switch n.Node.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		return n.problem("anchors and aliases are not supported: write the value out")
	case *ast.TagNode:
		return n.problem("tags are not supported: remove it")
	case *ast.MergeKeyNode:
		return n.problem("merge keys are not supported: write the members out")
	}
	return nil
}

// pairs returns the members of a mapping. What says what the mapping is, for the error.
func (n node) pairs(what string) ([]pair, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	var values []*ast.MappingValueNode
	switch m := n.Node.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		return nil, n.problem(what)
	}
	seen := map[string]bool{}
	pairs := make([]pair, 0, len(values))
	for _, v := range values {
		at := node{v.Key}
		if err := at.check(); err != nil {
			return nil, err
		}
		key, err := at.text("a key is a word")
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, at.problem("this key is there twice: remove one")
		}
		seen[key] = true
		value := node{v.Value}
		if err := value.check(); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{key: key, at: at, value: value})
	}
	return pairs, nil
}

// elements returns the elements of a sequence.
func (n node) elements(what string) ([]node, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	s, ok := n.Node.(*ast.SequenceNode)
	if !ok {
		return nil, n.problem(what)
	}
	elements := make([]node, len(s.Values))
	for i, v := range s.Values {
		elements[i] = node{v}
	}
	return elements, nil
}

// text returns a scalar as text. Numbers and truth values are taken as they are
// written: where text is expected, 010 and yes mean what they look like.
func (n node) text(what string) (string, error) {
	if err := n.check(); err != nil {
		return "", err
	}
	switch s := n.Node.(type) {
	case *ast.StringNode:
		return s.Value, nil
	case *ast.LiteralNode:
		return s.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return s.GetToken().Value, nil
	}
	return "", n.problem(what)
}
