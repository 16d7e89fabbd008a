package suspended

import (
	"context"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// An input is one input request of a script.
type input struct {
	mcp.InputRequest
	set      *inputSet
	round    uint32 // in which it was put to the client last, 0 for not yet
	invalid  bool   // it had an invalid answer once
	done     bool
	response mcp.InputResponse
}

// take uses the client's response. A missing response is asked for again, and an invalid one
// once (M-53, M-54).
func (in *input) take(v json.RawMessage) {
	if rawjson.KindOf(v) != rawjson.Object {
		return
	}
	if in.allows(v) {
		in.resolve(mcp.InputResponse{Result: rawjson.Normal(v)})
		return
	}
	if in.invalid {
		in.resolve(failed(in.Method, mcp.Errorf(mcp.CodeInvalidParams, "Invalid answer of the client")))
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

// unsupported returns the response for a client that cannot answer (T-124, T-128).
func unsupported(method string) mcp.InputResponse {
	if method == mcp.MethodElicit {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"decline"}`)}
	}
	return mcp.InputResponse{Error: mcp.Errorf(mcp.CodeMethodNotFound, "Not supported by the client")}
}

// failed returns the response to a request that could not be asked. For an elicitation it is the
// action that scripts know.
func failed(method string, e *mcp.Error) mcp.InputResponse {
	if method == mcp.MethodElicit {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"error"}`)}
	}
	return mcp.InputResponse{Error: e}
}

// An inputSet contains the questions that a script asked together. It implements
// [mcp.PendingInput].
type inputSet struct {
	call   *call
	inputs []*input
	done   chan struct{} // closed once all are answered
	closed bool
}

// check closes done if nothing is missing. The call's lock is held.
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

// Responses implements [mcp.PendingInput].
func (s *inputSet) Responses() ([]mcp.InputResponse, bool) {
	select {
	case <-s.done:
		return s.responses(), true
	default:
		return nil, false
	}
}

// Wait implements [mcp.PendingInput].
func (s *inputSet) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	select {
	case <-s.done:
		return s.responses(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements [mcp.PendingInput].
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
