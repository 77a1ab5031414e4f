package project

import (
	"path/filepath"
	"strings"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

var (
	// sourceName is the grammar of a service: no comma, no space, no leading dash.
	sourceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$`)
	envName    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func readConfig(root node, dir string) (Config, error) {
	var c Config
	const noVersion = "the first key is version: 1"
	if root.isNull() {
		return c, root.problem(noVersion)
	}
	pairs, err := root.pairs("the file is a mapping with the keys version, name and sources")
	if err != nil {
		return c, err
	}
	version := false
	for _, p := range pairs {
		switch p.key {
		case "version":
			const only = "the version is 1: this program knows no other"
			text, err := p.value.text(only)
			if err != nil {
				return c, err
			}
			if text != "1" {
				return c, p.value.problem(only)
			}
			version = true
		case "name":
			const rule = "the name is a text with at least one letter or digit and at most 253 characters"
			if c.Name, err = p.value.text(rule); err != nil {
				return c, err
			}
			if !ValidName(c.Name) {
				return c, p.value.problem(rule)
			}
		case "sources":
			if c.Sources, err = readSources(p.value, dir); err != nil {
				return c, err
			}
		default:
			return c, p.at.problem("unknown key: the keys are version, name and sources")
		}
	}
	if !version {
		return c, root.problem(noVersion)
	}
	return c, nil
}

func readSources(n node, dir string) ([]Source, error) {
	if n.isNull() {
		return nil, nil
	}
	pairs, err := n.pairs("sources is a mapping: the name of a source, then what it is")
	if err != nil {
		return nil, err
	}
	if len(pairs) > MaxSources {
		return nil, pairs[MaxSources].at.problem("there are more than 100 sources: remove some")
	}
	var sources []Source
	for _, p := range pairs {
		if !sourceName.MatchString(p.key) {
			return nil, p.at.problem("the name of a source begins with a letter or digit and goes on with letters, digits, dot, dash and underscore, up to 253")
		}
		s, err := readSource(p.value, dir)
		if err != nil {
			return nil, err
		}
		s.Name = p.key
		sources = append(sources, s)
	}
	return sources, nil
}

func readPath(n node, dir, rule string) (string, error) {
	path, err := n.text(rule)
	if err != nil {
		return "", err
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return "", n.problem(rule)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, path), nil
}

func readCommand(n node) ([]string, error) {
	const rule = `command is a list, one element for each argument, such as ["./worker", "--verbose"]: no shell reads it, so a text cannot be split`
	elements, err := n.elements(rule)
	if err != nil {
		return nil, err
	}
	const element = "an argument is a text without NUL: put it in quotes"
	command := make([]string, 0, len(elements))
	for _, e := range elements {
		text, err := e.text(element)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(text, 0) {
			return nil, e.problem(element)
		}
		command = append(command, text)
	}
	if len(command) == 0 || command[0] == "" {
		return nil, n.problem("command is empty: its first element is the program")
	}
	return command, nil
}

func readEnv(n node) ([]string, error) {
	pairs, err := n.pairs("env is a mapping: the name of a variable, then its value")
	if err != nil {
		return nil, err
	}
	var env []string
	for _, p := range pairs {
		if !envName.MatchString(p.key) {
			return nil, p.at.problem("the name of a variable is made of letters, digits and underscores and begins with no digit")
		}
		const rule = "the value of a variable is a text without NUL: put it in quotes"
		value, err := p.value.text(rule)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(value, 0) {
			return nil, p.value.problem(rule)
		}
		env = append(env, p.key+"="+value)
	}
	return env, nil
}
