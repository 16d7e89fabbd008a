package main

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A message is what the bridge has to know of a line of JSON-RPC. What it carries
// passes through untouched.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// fields are the members of params and results that say where a message belongs.
type fields struct {
	ProgressToken   json.RawMessage
	RequestID       json.RawMessage
	ProtocolVersion string
	Meta            struct{ ProgressToken json.RawMessage } `json:"_meta"`
}

// look reads params or a result. Of another shape than expected they have no
// fields: whether that is wrong is for the server and the client to say.
func look(object json.RawMessage) fields {
	var f fields
	if json.Unmarshal(object, &f) != nil {
		return fields{}
	}
	return f
}

func (m message) isRequest() bool { return m.Method != "" && m.ID != nil }

func (m message) isAnswer() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

// parse makes a line, without its end, of the body of a request. The error says
// why that is no single message.
func parse(body []byte) (message, []byte, error) {
	var m message
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return m, nil, errors.New("the body is not JSON: " + err.Error())
	}
	if line.Len() > 0 && line.Bytes()[0] == '[' {
		return m, nil, errors.New("the body is a batch, which Streamable HTTP has not had since 2025-06-18: send " +
			"one message")
	}
	if err := json.Unmarshal(line.Bytes(), &m); err != nil || m.Method == "" && !m.isAnswer() {
		return m, nil, errors.New("the body is not a JSON-RPC message: it has no method and is no answer")
	}
	return m, line.Bytes(), nil
}
