package suspended

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// An input is one input request of a script.
type input struct {
	mcp.InputRequest
	set      *inputSet
	round    uint32 // the last one that sent it to the client; 0: none
	invalid  bool   // it had an invalid answer once
	done     bool
	response mcp.InputResponse
}

// take uses the client's response. If the response is missing, the question is asked again. If it is invalid, the
// question is asked once more.
func (in *input) take(v json.RawMessage) {
	if rawjson.KindOf(v) != rawjson.Object {
		return
	}
	if in.allows(v) {
		in.resolve(mcp.InputResponse{Result: rawjson.Normal(v)})
		return
	}
	if in.invalid {
		in.fail(mcp.Errorf(mcp.CodeInvalidParams, "Invalid answer of the client"))
	}
	in.invalid = true
}

// allows reports whether a response fits the request.
func (in *input) allows(v json.RawMessage) bool {
	switch in.Method {
	case mcp.MethodRoots:
		return rawjson.KindOf(rawjson.Get(v, "roots")) == rawjson.Array
	case mcp.MethodSampling:
		return rawjson.Get(v, "content") != nil && rawjson.TextOf(v, "role") != ""
	}
	return validForm(rawjson.Get(in.Params, "requestedSchema"), v)
}

// resolve sets the response for the script. The call's lock is held.
func (in *input) resolve(response mcp.InputResponse) {
	in.response, in.done = response, true
	x := in.set.call
	x.open = slices.DeleteFunc(x.open, func(other *input) bool { return other == in })
	in.set.check()
}

// fail resolves a request that could not be sent. For an elicitation, the script gets the action "error".
func (in *input) fail(e *mcp.Error) { in.resolve(calls.NoAnswer(in.Method, "error", e)) }

// prepare converts a request to the form of the stateless protocol.
func (in *input) prepare() *mcp.Error {
	if in.Method != mcp.MethodElicit || rawjson.TextOf(in.Params, "mode") == "url" {
		return nil
	}
	form, err := soundForm(rawjson.Get(in.Params, "requestedSchema"))
	if err != nil {
		return mcp.Errorf(mcp.CodeInvalidParams, "%s", err)
	}
	in.Params = rawjson.With(in.Params, "requestedSchema", form)
	return nil
}

// An inputSet contains the questions that a script asked together. It implements
// [mcp.PendingInput].
type inputSet struct {
	call   *call
	inputs []*input
	done   chan struct{} // closed once all are answered
	closed bool
}

// check closes done if all inputs have responses. The call's lock is held.
func (s *inputSet) check() {
	if s.closed || slices.ContainsFunc(s.inputs, func(in *input) bool { return !in.done }) {
		return
	}
	s.closed = true
	close(s.done)
}

func (s *inputSet) responses() []mcp.InputResponse {
	list := make([]mcp.InputResponse, len(s.inputs))
	for i, in := range s.inputs {
		list[i] = in.response
	}
	return list
}

func (s *inputSet) Responses() ([]mcp.InputResponse, bool) {
	select {
	case <-s.done:
		return s.responses(), true
	default:
		return nil, false
	}
}

func (s *inputSet) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	select {
	case <-s.done:
		return s.responses(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *inputSet) Close() []mcp.InputResponse {
	x := s.call
	x.mu.Lock()
	defer x.mu.Unlock()
	open := len(x.open)
	x.open = slices.DeleteFunc(x.open, func(in *input) bool { return in.set == s })
	if len(x.open) < open && len(x.open) == 0 && x.serving == nil {
		go x.moved() // it takes locks in the other order
	}
	return s.responses()
}

// formRules is the protocol's schema of a form: primitives, each with its type, and choices
// among strings.
//
//go:embed form.schema.json
var formRules []byte

var compiledRules = sync.OnceValues(func() (*schema.Schema, error) {
	return schema.Compile(formRules)
})

// soundForm returns a requestedSchema in the form that clients accept, or an error.
func soundForm(requested json.RawMessage) (json.RawMessage, error) {
	rules, err := compiledRules()
	if err != nil {
		return nil, fmt.Errorf("the rules of forms: %w", err) // a bug that tests find
	}
	form := withAnyOf(requested)
	if violations := rules.Check(form); len(violations) > 0 {
		return nil, errors.New("requestedSchema: " + violations[0].String())
	}
	return form, nil
}

// withAnyOf renames items.oneOf of older scripts to items.anyOf, which this revision uses for the
// choices of a list.
func withAnyOf(form json.RawMessage) json.RawMessage {
	return replaced(form, "properties", func(fields json.RawMessage) json.RawMessage {
		var b rawjson.Builder
		b.Object()
		for _, field := range rawjson.Members(fields) {
			b.Name(field.Name).Raw(replaced(field.Value, "items", func(items json.RawMessage) json.RawMessage {
				if rawjson.Get(items, "anyOf") != nil {
					return items
				}
				var b rawjson.Builder
				b.Object()
				for _, m := range rawjson.Members(items) {
					if m.Name == "oneOf" {
						m.Name = "anyOf"
					}
					b.Name(m.Name).Raw(m.Value)
				}
				return b.End().Bytes()
			}))
		}
		return b.End().Bytes()
	})
}

// replaced returns an object with one member changed, if that is an object too. It returns any
// other value unchanged.
func replaced(object json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	if rawjson.KindOf(object) != rawjson.Object || rawjson.KindOf(rawjson.Get(object, name)) != rawjson.Object {
		return object
	}
	return rawjson.With(object, name, change(rawjson.Get(object, name)))
}

// validForm reports whether an answer to a form is valid: it has an action, and for "accept" also content that the form
// allows.
func validForm(requested, answer json.RawMessage) bool {
	switch rawjson.TextOf(answer, "action") {
	case "decline", "cancel":
		return true
	case "accept":
	default:
		return false
	}
	if requested == nil { // a URL was opened, which has no form
		return true
	}
	content := rawjson.Get(answer, "content")
	if content == nil {
		content = json.RawMessage("{}")
	}
	s, err := schema.Compile(requested)
	return rawjson.KindOf(content) == rawjson.Object && (err != nil || len(s.Check(content)) == 0)
}
