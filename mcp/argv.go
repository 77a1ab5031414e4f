package mcp

import (
	"strconv"
	"strings"
)

// A part is one piece of a command line.
type part struct {
	kind  partKind
	value string // the word, or the name of a field
}

type partKind uint8

const (
	partWord    partKind = iota // a word as it is
	partProject                 // what selects the project
	partOption                  // a field with its flag, where it was given
	partOperand                 // a field without a flag, where it was given
	partWords                   // command words behind a "--", where there are any
)

func word(w string) part       { return part{partWord, w} }
func selection() part          { return part{kind: partProject} }
func option(field string) part { return part{partOption, field} }

// operand is for names only: nothing else is known not to begin with a dash.
func operand(field string) part { return part{partOperand, field} }

// words are the words of a command of the caller's. Behind the "--" nothing is a flag.
func words(field string) part { return part{partWords, field} }

// commandLine returns the arguments of the command. No value can become a flag: one that
// begins with a dash is one element with its flag.
func (t *tool) commandLine(selected []string, args arguments) []string {
	var argv []string
	for _, p := range t.argv {
		switch p.kind {
		case partWord:
			argv = append(argv, p.value)
		case partProject:
			argv = append(argv, selected...)
		case partOperand:
			argv = append(argv, args[p.value].texts...)
		case partWords:
			if words := args[p.value].texts; len(words) > 0 {
				argv = append(append(argv, "--"), words...)
			}
		case partOption:
			argv = t.field(p.value).appendOption(argv, args[p.value])
		}
	}
	return argv
}

// appendOption appends the flag of f and its value. An empty value means the same as none.
func (f *field) appendOption(argv []string, a argument) []string {
	if !a.given {
		return argv
	}
	var value string
	switch f.kind {
	case kindBoolean:
		if a.yes {
			argv = append(argv, f.flag)
		}
		return argv
	case kindInteger:
		value = strconv.Itoa(a.n)
	default:
		value = strings.Join(a.texts, ",")
	}
	switch {
	case value == "":
		return argv
	case value[0] == '-':
		return append(argv, f.flag+"="+value)
	}
	return append(argv, f.flag, value)
}
