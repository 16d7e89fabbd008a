package tasks

import (
	"encoding/json"
	"strconv"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// questions are those that a script of the stateless protocol has asked together. The call is suspended (M-50).
type questions struct {
	result json.RawMessage // that asks them
	state  string          // of the suspended call
	list   []question
	bytes  int // of the answers
}

type question struct {
	key     string // of the script
	shown   string // the key for the client, which occurs once in a task
	request json.RawMessage
	answer  json.RawMessage // nil: none yet
}

// maxAnswers limits the answers to a part of the questions, in bytes (TASK-30).
const maxAnswers = 256 << 10

// ask notes questions. The lock is held.
func (x *task) ask(result json.RawMessage) {
	x.rounds++
	asked := &questions{result: result, state: rawjson.TextOf(result, "requestState")}
	for key, request := range rawjson.All(rawjson.Get(result, "inputRequests")) {
		shown := key
		if x.rounds > 1 {
			shown += "#" + strconv.Itoa(x.rounds)
		}
		asked.list = append(asked.list, question{key: key, shown: shown, request: request})
	}
	x.asked, x.updated = asked, time.Now()
	if x.sent.Call != nil { // it is not a retry
		x.call = x.sent.Call
	}
	x.signal()
}

// appendOpen appends an object with the questions that have no answer.
func (q *questions) appendOpen(b *rawjson.Builder) {
	b.Object()
	for _, one := range q.list {
		if one.answer == nil {
			b.Name(one.shown).Raw(one.request)
		}
	}
	b.End()
}

// askable reports whether a client can answer all open questions (M-56).
func (q *questions) askable(client *mcp.Capabilities) bool {
	for _, one := range q.list {
		r := mcp.InputRequest{
			Method: rawjson.TextOf(one.request, "method"), Params: rawjson.Get(one.request, "params"),
		}
		if one.answer == nil && !client.CanAnswer(&r) {
			return false
		}
	}
	return true
}

// answer takes the client's answers to open questions, and reports whether none is missing.
func (q *questions) answer(responses json.RawMessage) (complete bool) {
	complete = true
	for i := range q.list {
		one := &q.list[i]
		if v := rawjson.Get(responses, one.shown); one.answer == nil && rawjson.KindOf(v) == rawjson.Object {
			one.answer = rawjson.Normal(v)
			q.bytes += len(v)
		}
		complete = complete && one.answer != nil
	}
	return complete
}

// update uses the answers in a request of the client. The call goes on when no answer is missing.
func (x *task) update(r *calls.Request) *mcp.Error {
	responses := r.Params.Get(mcp.ParamResponses)
	if rawjson.KindOf(responses) != rawjson.Object {
		return mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("inputResponses must be an object")
	}
	x.mu.Lock()
	if x.asked == nil {
		x.mu.Unlock()
		return nil
	}
	complete := x.asked.answer(responses)
	tooLarge := !complete && x.asked.bytes > maxAnswers
	x.updated = time.Now()
	x.signal()
	x.mu.Unlock()
	switch {
	case tooLarge:
		x.stop(mcp.Errorf(mcp.CodeInternal, "The answers to a part of the questions are too large"))
	case complete:
		x.resume(&r.Client)
	}
	return nil
}

// moved lets a call go on whose script no longer waits for an answer, or has ended. Before the hand-over, the client's
// retry does that, unless its request still waits, because the client is going.
func (x *task) moved() {
	x.mu.Lock()
	alone := x.id != "" || x.attached != nil
	x.mu.Unlock()
	if alone {
		x.resume(nil)
	}
}

// resume sends the retry that continues the suspended call, with the answers so far. client sent the last request;
// nil: the server resumes the call.
func (x *task) resume(client *calls.ClientSession) {
	x.mu.Lock()
	asked := x.asked
	if asked == nil {
		x.mu.Unlock()
		return
	}
	x.asked = nil
	if client != nil {
		x.first.client = *client
	}
	var b rawjson.Builder
	b.Object().Members(x.first.params.Raw, "requestState", "inputResponses").Name("requestState").String(asked.state).
		Name("inputResponses").Object()
	for _, one := range asked.list {
		b.OptionalRaw(one.key, one.answer)
	}
	params := mcp.ReadParams(b.End().End().Bytes())
	x.mu.Unlock()
	x.send(params)
}
