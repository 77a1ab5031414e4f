package project

import (
	"net/url"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// The grammars of values that become arguments of a program, or parts of a request. None
// of them begins with a dash, though the arguments do not depend on that.
var (
	// unitName is what systemd takes as the name of a unit, or as a pattern of names.
	unitName = lazyregexp.New(`^[A-Za-z0-9:_.@*?\[\\][A-Za-z0-9:_.@*?\[\]\\-]{0,254}$`)
	// priorityName are the names of syslog.
	priorityName = lazyregexp.New(`^(emerg|alert|crit|err|warning|notice|info|debug)$`)
	// kubeName is the name of a thing in a cluster.
	kubeName = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	// selectorText has the characters of a label selector; the server reads it.
	selectorText = lazyregexp.New(`^[A-Za-z0-9!(][A-Za-z0-9!=,()._/ -]{0,999}$`)
	// projectName and serviceName are those of Compose.
	projectName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,252}$`)
	serviceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$`)
	// plainText is text without controls.
	plainText = lazyregexp.New(`^[^\x00-\x20\x7f-\x{a0}-][^\x00-\x1f\x7f-\x{9f}]{0,252}$`)
	httpURL   = lazyregexp.New(`^https?://[^\x00-\x20\x7f?#]{1,1000}$`)
)

const (
	unitRule = "a unit is the name of a unit of systemd, such as nginx.service, or a pattern of names"
	kubeRule = "a name in a cluster is made of small letters, digits, dashes and dots"
	textRule = "this is a text of at most 253 characters that begins with no dash"
	envRule  = "this is the name of an environment variable, which holds the secret"
	urlRule  = "url is one such as https://loki.example.org:3100, without a user, a password or a query"
)

// cleanURL says whether a URL can be read and holds no secret.
func cleanURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && !strings.Contains(u.Host, "@")
}

// matching returns a text that matches a grammar. The rule says which, for the error.
func (n node) matching(grammar *lazyregexp.Regexp, rule string) (string, error) {
	text, err := n.text(rule)
	if err != nil {
		return "", err
	}
	if !grammar.MatchString(text) {
		return "", n.problem(rule)
	}
	return text, nil
}

// listOf returns the texts of a list, each of which matches a grammar.
func (n node) listOf(grammar *lazyregexp.Regexp, rule string) ([]string, error) {
	elements, err := n.elements("this is a list: " + rule)
	if err != nil {
		return nil, err
	}
	if len(elements) == 0 || len(elements) > maxFiles {
		return nil, n.problem("this list has at least 1 and at most 100 elements: " + rule)
	}
	var texts []string
	for _, e := range elements {
		text, err := e.matching(grammar, rule)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// truth returns a boolean.
func (n node) truth() (bool, error) {
	if err := n.check(); err != nil {
		return false, err
	}
	if b, ok := n.Node.(*ast.BoolNode); ok {
		return b.Value, nil
	}
	return false, n.problem("this is true or false")
}
