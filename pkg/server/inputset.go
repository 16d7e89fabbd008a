package server

import (
	"context"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// An inputItem is one input request of a script.
type inputItem struct {
	mcp.InputRequest
	set      *inputSet
	round    uint32 // in which it was put to the client last, 0 for not yet
	invalid  bool   // it was answered with what it does not allow, once
	done     bool
	response mcp.InputResponse
}

// take judges the client's response to a request: nothing is asked again, and so is what the
// request does not allow, once (M-53, M-54).
func (item *inputItem) take(v json.RawMessage) {
	if rawjson.KindOf(v) != rawjson.Object {
		return
	}
	if item.allows(v) {
		item.resolve(mcp.InputResponse{Result: rawjson.Normal(v)})
		return
	}
	if item.invalid {
		item.resolve(failedInput(item.Method, mcp.Errorf(mcp.CodeInvalidParams, "Invalid answer of the client")))
	}
	item.invalid = true
}

// allows reports whether a response is one to the request.
func (item *inputItem) allows(v json.RawMessage) bool {
	switch item.Method {
	case mcp.MethodRoots:
		return rawjson.KindOf(rawjson.Get(v, "roots")) == rawjson.Array
	case mcp.MethodSampling:
		return rawjson.Get(v, "content") != nil && rawjson.TextOf(v, "role") != ""
	}
	return validForm(rawjson.Get(item.Params, "requestedSchema"), v)
}

// resolve gives a script the response to one of its requests. The exchange's lock is held.
func (item *inputItem) resolve(response mcp.InputResponse) {
	item.response, item.done = response, true
	x := item.set.exchange
	x.open = slices.DeleteFunc(x.open, func(i *inputItem) bool { return i == item })
	item.set.check()
}

// prepare puts a request into the form that this revision has.
func (item *inputItem) prepare() *mcp.Error {
	if item.Method != mcp.MethodElicit || rawjson.TextOf(item.Params, "mode") == "url" {
		return nil
	}
	form, err := soundForm(rawjson.Get(item.Params, "requestedSchema"))
	if err != nil {
		return mcp.Errorf(mcp.CodeInvalidParams, "%s", err)
	}
	var b rawjson.Builder
	b.Object()
	for _, m := range rawjson.Members(item.Params) {
		if m.Name == "requestedSchema" {
			m.Value = form
		}
		b.Name(m.Name).Raw(m.Value)
	}
	item.Params = b.End().Bytes()
	return nil
}

// canAsk reports whether a client has declared what it takes to answer a request (M-56).
func canAsk(client *mcp.Capabilities, r *mcp.InputRequest) bool {
	switch {
	case r.Method == mcp.MethodRoots:
		return client.Roots
	case r.Method == mcp.MethodSampling:
		return client.CanSample(r.Params)
	case rawjson.TextOf(r.Params, "mode") == "url":
		return client.ElicitURL
	}
	return client.ElicitForm
}

// unsupported is the response for a client that cannot give one (T-124, T-128).
func unsupported(method string) mcp.InputResponse {
	if method == mcp.MethodElicit {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"decline"}`)}
	}
	return mcp.InputResponse{Error: mcp.Errorf(mcp.CodeMethodNotFound, "Not supported by the client")}
}

// failedInput is the response to what could not be asked: for a person's answer the action
// that says so, which scripts know.
func failedInput(method string, e *mcp.Error) mcp.InputResponse {
	if method == mcp.MethodElicit {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"error"}`)}
	}
	return mcp.InputResponse{Error: e}
}

// An inputSet is what a script asked for at once.
type inputSet struct {
	exchange *exchange
	items    []*inputItem
	done     chan struct{} // is closed once all are answered
	closed   bool
}

// check closes done when nothing is missing. The exchange's lock is held.
func (s *inputSet) check() {
	if s.closed || slices.ContainsFunc(s.items, func(i *inputItem) bool { return !i.done }) {
		return
	}
	s.closed = true
	close(s.done)
}

func (s *inputSet) responses() []mcp.InputResponse {
	list := make([]mcp.InputResponse, len(s.items))
	for i, item := range s.items {
		list[i] = item.response
	}
	return list
}

// Responses is [mcp.PendingInput.Responses].
func (s *inputSet) Responses() ([]mcp.InputResponse, bool) {
	select {
	case <-s.done:
		return s.responses(), true
	default:
		return nil, false
	}
}

// Wait is [mcp.PendingInput.Wait].
func (s *inputSet) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	select {
	case <-s.done:
		return s.responses(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close is [mcp.PendingInput.Close].
func (s *inputSet) Close() []mcp.InputResponse {
	x := s.exchange
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open = slices.DeleteFunc(x.open, func(i *inputItem) bool { return i.set == s })
	return s.responses()
}
