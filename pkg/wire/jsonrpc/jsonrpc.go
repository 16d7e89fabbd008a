// Package jsonrpc reads and writes JSON-RPC 2.0 messages over a pair of byte streams, one message on each line. It
// splits the input into lines, classifies messages, and writes whole lines from many goroutines (protocol sections 4
// and 5).
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/tracecontext"
)

// An Origin describes the HTTP request that contained a message. It is zero for standard input.
type Origin struct {
	Address string // of the client
	Agent   string // the client's User-Agent, at most 200 bytes
	Session string // the name of the session in records, or ""
	ID      string // the id of the HTTP request in records, or ""
}

// A Message is one JSON text of the stream, split into its parts without decoding them. Its
// parts are slices of the line that it was parsed from.
type Message struct {
	Shape  Shape
	Fault  Fault  // the reason for the shape Invalid, or the fault of a notification
	ID     ID     // empty: missing or invalid
	Method string // "" when absent
	Params mcp.Params
	Result json.RawMessage // of a response
	Error  json.RawMessage // of a response
	Array  json.RawMessage // of a batch

	Trace tracecontext.Context // set by the transport
	From  Origin
}

// A Shape is the type of a message.
type Shape byte

// The shapes. Faulty notifications keep their shape, because they are never answered.
const (
	Invalid      Shape = iota // answered with the error of Fault
	Request                   // a method and an id
	Notification              // a method without an id
	Response                  // a result or an error, and no method
	Batch                     // an array
)

// IsAnswered reports whether a message has an answer. Each element of a batch has its own.
func (m *Message) IsAnswered() bool { return m.Shape != Notification && m.Shape != Response }

// A Fault is a problem of a message.
type Fault byte

// The faults, in the order in which they are checked.
const (
	None       Fault = iota
	NoMethod         // not an object, or without a usable method
	BadVersion       // jsonrpc is not "2.0"
	BadID            // id is neither string nor number
	BadParams        // params is neither object, array nor null
)

var (
	errSyntax = errors.New("not one JSON text")
	ErrUTF8   = rawjson.ErrInvalidUTF8
)

// Parse parses a line. The error is [ErrUTF8] for invalid UTF-8. Any other error means that
// the line is not one JSON text.
func Parse(line []byte) (Message, error) {
	v, err := rawjson.Check(line)
	switch {
	case err == rawjson.ErrInvalidUTF8:
		return Message{}, ErrUTF8
	case err != nil:
		return Message{}, errSyntax
	}
	return Classify(v), nil
}

// Classify determines the type of a message from a valid JSON value, in the order of the
// steps of P-500.
func Classify(v json.RawMessage) Message {
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		return Message{Shape: Batch, Array: v}
	case rawjson.Object:
	default:
		return Message{Fault: NoMethod}
	}
	var m Message
	var version, id, method, params json.RawMessage
	rawjson.Each(v, func(name, value json.RawMessage) {
		if bytes.IndexByte(name, '\\') >= 0 {
			name = plain(name)
		}
		switch string(name) {
		case `"jsonrpc"`:
			version = value
		case `"id"`:
			id = value
		case `"method"`:
			method = value
		case `"params"`:
			params = value
		case `"result"`:
			m.Result = value
		case `"error"`:
			m.Error = value
		}
	})
	if kind := rawjson.KindOf(id); kind == rawjson.String || kind == rawjson.Number {
		m.ID = ID(id)
	}
	if method == nil && (m.Result != nil || m.Error != nil) {
		m.Shape = Response
		return m
	}
	m.Method = methodName(method)
	paramsKind := rawjson.KindOf(params)
	if paramsKind == rawjson.Object || paramsKind == rawjson.Array {
		m.Params = mcp.ReadParams(params)
	}
	switch {
	case m.Method == "":
		m.Fault = NoMethod
		return m
	case version != nil && string(plain(version)) != `"2.0"`:
		m.Fault = BadVersion
	case id != nil && m.ID == nil:
		m.Fault = BadID
		return m
	case params != nil && m.Params.Raw == nil && paramsKind != rawjson.Null:
		m.Fault = BadParams
	}
	switch {
	case id == nil:
		m.Shape = Notification
	case m.Fault == None:
		m.Shape = Request
	}
	return m
}

// plain returns a string value without unnecessary escapes.
func plain(v json.RawMessage) json.RawMessage {
	if bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	s, _ := rawjson.Text(v)
	return rawjson.Quote(s)
}

// known are the methods that clients send, as JSON, the frequent ones first. Looking one up
// allocates nothing.
var known = []string{
	`"tools/call"`, `"resources/read"`, `"prompts/get"`, `"completion/complete"`, `"tools/list"`, `"resources/list"`,
	`"resources/templates/list"`, `"prompts/list"`, `"ping"`, `"notifications/cancelled"`, `"initialize"`,
	`"notifications/initialized"`, `"initialized"`, `"notifications/roots/list_changed"`, `"notifications/message"`,
	`"logging/setLevel"`, `"resources/subscribe"`, `"resources/unsubscribe"`, `"server/discover"`,
	`"subscriptions/listen"`, `"shutdown"`, `"exit"`,
}

func methodName(v json.RawMessage) string {
	for _, name := range known {
		if string(v) == name {
			return name[1 : len(name)-1]
		}
	}
	name, _ := rawjson.Text(v)
	return name
}

// An ID is the id of a request as the client wrote it, so that the response repeats it byte for byte. The empty ID
// means that there is no id.
type ID json.RawMessage

// Key returns a text that is equal for equal ids, by JSON type and value. 1 and "1" differ, but 1 and 1.0 are equal.
func (id ID) Key() string {
	if s, ok := rawjson.Text(json.RawMessage(id)); ok {
		return "s" + s
	}
	if n, err := strconv.ParseFloat(string(id), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return "n" + strconv.FormatInt(int64(n), 10)
	}
	return "n" + string(id)
}

// AppendResult appends a response line. value appends the result; nil means an empty object.
func AppendResult(dst []byte, id ID, value func(dst []byte) []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":`...)
	if value == nil {
		dst = append(dst, "{}"...)
	} else {
		dst = value(dst)
	}
	return append(dst, "}\n"...)
}

// AppendError appends an error response line. The empty ID is omitted.
func AppendError(dst []byte, id ID, value func(dst []byte) []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if len(id) > 0 {
		dst = append(dst, `"id":`...)
		dst = append(dst, id...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"error":`...)
	return append(value(dst), "}\n"...)
}

// AppendNotification appends a notification line.
func AppendNotification(dst []byte, method string, params json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = rawjson.AppendString(dst, method)
	return appendParams(dst, params)
}

// AppendRequest appends a request line of the server. params can be nil.
func AppendRequest(dst []byte, id int64, method string, params json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":`...)
	dst = rawjson.AppendString(dst, method)
	return appendParams(dst, params)
}

func appendParams(dst []byte, params json.RawMessage) []byte {
	if len(params) > 0 {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, "}\n"...)
}
