package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"mcp-bash/pkg/json/rawjson"
)

// A message contains the fields of a line of JSON-RPC that the bridge needs. The bridge passes on the
// rest unchanged.
type message struct {
	id, params, result, failure json.RawMessage
	method                      string
}

// read reads a line. It returns an empty message for a line that is not JSON: the server or the client
// reports the error.
func read(line []byte) message {
	if !json.Valid(line) {
		return message{}
	}
	return message{
		id: rawjson.Get(line, "id"), method: rawjson.TextOf(line, "method"), params: rawjson.Get(line, "params"),
		result: rawjson.Get(line, "result"), failure: rawjson.Get(line, "error"),
	}
}

func (m message) isRequest() bool { return m.method != "" && m.id != nil }

func (m message) isAnswer() bool { return m.method == "" && (m.result != nil || m.failure != nil) }

// meta is a member of the request's or notification's _meta.
func (m message) meta(name string) json.RawMessage { return rawjson.Path(m.params, "_meta", name) }

// parse turns the body of a request into a line, without its end. It returns an error if the body is
// not a single message.
func parse(body []byte) (message, []byte, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return message{}, nil, errors.New("the body is not JSON: " + err.Error())
	}
	if line.Len() > 0 && line.Bytes()[0] == '[' {
		return message{}, nil, errors.New("the body is a batch, which Streamable HTTP has not had since " +
			"2025-06-18: send one message")
	}
	m := read(line.Bytes())
	if m.method == "" && !m.isAnswer() {
		return m, nil, errors.New("the body is not a JSON-RPC message: it has no method and is no answer")
	}
	return m, line.Bytes(), nil
}

// replace puts a value in the place of the member that the names lead to, where
// there is one. All else stays as it is.
func replace(object, value json.RawMessage, names ...string) json.RawMessage {
	switch {
	case len(names) == 0:
		return value
	case rawjson.KindOf(object) != rawjson.Object:
		return object
	}
	var b rawjson.Builder
	b.Object()
	for name, member := range rawjson.All(object) {
		if name == names[0] {
			member = replace(member, value, names[1:]...)
		}
		b.Name(name).Raw(member)
	}
	return b.End().Bytes()
}
