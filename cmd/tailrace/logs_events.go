package main

import (
	"strconv"
	"time"

	"github.com/tailrace/tailrace/internal/jsonstr"
)

// backendMixed is the backend of a start or end event that speaks of sources of several
// kinds. Else that is the kind of the sources.
const backendMixed = "mixed"

// A frame is what the events around the log events have in common. Members that are
// empty are left out of them.
type frame struct {
	project, backend, branch string
	now                      func() time.Time
}

func (f *frame) appendHead(dst []byte, kind string) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","ts":"`...)
	dst = f.now().UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	dst = append(dst, '"')
	dst = appendMember(dst, "project", f.project)
	dst = appendMember(dst, "backend", f.backend)
	return appendMember(dst, "branch", f.branch)
}

// appendStart appends the event that comes first. since and until are as the caller
// wrote them; services are the ones that were asked for.
func (f *frame) appendStart(dst []byte, services []string, follow bool, since, until string) []byte {
	dst = f.appendHead(dst, "start")
	if len(services) > 0 {
		dst = append(dst, `,"services":[`...)
		for i, s := range services {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '"')
			dst = append(jsonstr.Append(dst, []byte(s)), '"')
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `,"follow":`...)
	if follow {
		dst = append(dst, "true"...)
	} else {
		dst = append(dst, "false"...)
	}
	dst = appendMember(dst, "since", since)
	dst = appendMember(dst, "until", until)
	return append(dst, "}\n"...)
}

// appendError appends an event about a source that could not be read; code may be "".
func (f *frame) appendError(dst []byte, code, message string) []byte {
	dst = appendMember(f.appendHead(dst, "error"), "code", code)
	return append(appendMember(dst, "message", message), "}\n"...)
}

// appendDropped appends an event about entries that the backend has left out.
func (f *frame) appendDropped(dst []byte, count int, message string) []byte {
	dst = append(f.appendHead(dst, "dropped"), `,"count":`...)
	dst = strconv.AppendInt(dst, int64(count), 10)
	return append(appendMember(dst, "message", message), "}\n"...)
}

func (f *frame) appendEnd(dst []byte, reason string) []byte {
	dst = appendMember(f.appendHead(dst, "end"), "reason", reason)
	return append(dst, "}\n"...)
}

func appendMember(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, `":"`...)
	return append(jsonstr.Append(dst, []byte(value)), '"')
}
