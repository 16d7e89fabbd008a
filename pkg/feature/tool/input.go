package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// Files that appear in the hand-off directory while a script runs. Files of a batch are in its
// subdirectory for questions.
const (
	cancelMark   = "cancelled"
	elicitAsk    = "elicit.request"
	elicitAnswer = "elicit.response"
	batchAsk     = "batch.request"
	batchAnswer  = "batch.response"
	wakeFIFO     = "wake" // FIFO at which the script waits for any answer
)

const maxQuestion = 1 << 20

// An inputRelay forwards the questions of one script to the client, and the answers to the script, through the hand-off
// directory. A script asks with a single elicitation or with a batch of requests. Each has at most one open request.
type inputRelay struct {
	files  *handoff.Dir
	asker  mcp.Asker
	client *mcp.Capabilities
	log    mcp.LogFunc

	ctx    context.Context // of the call
	waker  *script.Waker   // wakes the call when the client answers; nil before the first question
	elicit *asked          // the open questions, or nil
	batch  *asked
	event  *events.Event // its Draft gets the answers; may be nil
	lost   error         // why an answer could not be passed to the script, or nil
}

// An asked is a request of a script that is open at the client.
type asked struct {
	mcp.PendingInput
	cancel    context.CancelFunc // ends the wait for the answer
	questions []mcp.InputRequest
	room      *handoff.Reserved                 // disk space for the answer
	answer    func(answers []mcp.InputResponse) // passes the answers to the script
}

// Close implements [mcp.PendingInput].
func (q *asked) Close() []mcp.InputResponse {
	q.cancel()
	return q.PendingInput.Close()
}

// answerRoom is the disk space that is reserved for an answer, in bytes.
const answerRoom = 4 << 10

// A lostAnswer ends a call whose script cannot get an answer. Otherwise the script would wait until its timeout.
type lostAnswer struct{ err error }

func (e *lostAnswer) Error() string {
	reason := e.err
	if path, ok := errors.AsType[*fs.PathError](reason); ok {
		reason = path.Err
	}
	return fmt.Sprintf("the answer cannot be handed to the script: %s; "+
		"MCPBASH_TMP_ROOT chooses another place for temporary files", reason)
}

func (e *lostAnswer) Unwrap() error { return e.err }

// poll checks for new questions and for answers. open reports whether a question is open, which stops the clock. If the
// client does not read, poll sends no question and open is false. lost is set if an answer could not be passed on.
func (in *inputRelay) poll() (open bool) {
	ready := in.asker == nil || in.asker.Ready() // if false, the files stay in place
	if ready {
		if content, ok := in.files.Take(elicitAsk, maxQuestion); ok {
			in.startElicit(content)
		}
	}
	in.receive(&in.elicit)
	if ready {
		if content, ok := in.files.Input.Take(batchAsk, maxQuestion); ok {
			in.startBatch(content)
		}
	}
	in.receive(&in.batch)
	return ready && (in.elicit != nil || in.batch != nil)
}

// receive passes the answers of the client to the script and the record once they are complete.
func (in *inputRelay) receive(open **asked) {
	q := *open
	if q == nil {
		return
	}
	answers, done := q.Responses()
	if !done {
		return
	}
	*open = nil
	for i, a := range answers {
		if in.event != nil && a.Error == nil {
			in.event.Draft.Answer(q.questions[i].Method, q.questions[i].Params, a.Result)
		}
	}
	q.answer(answers)
}

// cancel creates the mark of a cancelled call before any signal is sent, and answers open questions.
func (in *inputRelay) cancel() {
	if err := in.files.Create(cancelMark, []byte("1")); err != nil && !errors.Is(err, fs.ErrExist) {
		in.log(mcp.Warning, logger, fmt.Sprintf("Cannot mark the call as cancelled: %s", err))
	}
	in.files.Input.Wake(wakeFIFO)
	if q := in.elicit; q != nil {
		in.elicit = nil
		q.Close()
		in.reply(q.room, "cancel", nil)
	}
	if q := in.batch; q != nil {
		in.batch = nil
		answers := q.Close()
		for i := range answers {
			if answers[i].Result == nil && answers[i].Error == nil {
				answers[i].Error = errCancelledAnswer
			}
		}
		q.answer(answers)
	}
}

// end withdraws open questions, because the script has ended.
func (in *inputRelay) end() {
	if in.waker != nil {
		in.waker.Close()
	}
	withdraw(&in.elicit)
	withdraw(&in.batch)
}

// withdraw closes an open request, if there is one, without an answer.
func withdraw(open **asked) {
	if q := *open; q != nil {
		*open = nil
		q.Close()
		q.room.Drop()
	}
}

// Errors of T-128.
var (
	errUnsupported     = mcp.Errorf(mcp.CodeMethodNotFound, "Not supported by the client")
	errCancelledAnswer = mcp.Errorf(mcp.CodeToolCancelled, "Cancelled")
)

// startElicit reads a request file. A second question replaces the first.
func (in *inputRelay) startElicit(content []byte) {
	withdraw(&in.elicit)
	ask, err := rawjson.Check(content)
	if err != nil || rawjson.KindOf(ask) != rawjson.Object {
		in.reply(nil, "error", nil)
		return
	}
	mode := cmp.Or(rawjson.TextOf(ask, "mode"), "form")
	if mode != "form" && mode != "url" || mode == "url" && rawjson.TextOf(ask, "url") == "" {
		in.reply(nil, "error", nil)
		return
	}
	if in.asker == nil || mode == "form" && !in.client.ElicitForm || mode == "url" && !in.client.ElicitURL {
		in.reply(nil, "decline", nil)
		return
	}
	var b rawjson.Builder
	b.Object().Name("mode").String(mode).Name("message").String(rawjson.TextOf(ask, "message"))
	if mode == "url" {
		b.Name("url").String(rawjson.TextOf(ask, "url"))
	} else {
		b.Name("requestedSchema").Raw(formSchema(rawjson.Get(ask, "schema")))
	}
	question := mcp.InputRequest{Method: mcp.MethodElicit, Params: b.End().Bytes()}
	if key := rawjson.TextOf(ask, "key"); mcp.IsInputKey(key) {
		question.Key = key
	}
	in.elicit = in.ask([]mcp.InputRequest{question}, &in.files.Folder,
		func(room *handoff.Reserved, answers []mcp.InputResponse) {
			action, answer := in.elicitAnswer(answers[0])
			in.reply(room, action, answer)
		})
}

// ask sends questions to the client, unless there is no disk space for the answer. The call wakes up when the client
// answers or when the call ends.
func (in *inputRelay) ask(questions []mcp.InputRequest, folder *handoff.Folder,
	answer func(*handoff.Reserved, []mcp.InputResponse)) *asked {
	room, err := folder.Reserve(answerRoom)
	if err != nil {
		in.fail(err)
		return nil
	}
	q := &asked{PendingInput: in.asker.Ask(questions), questions: questions, room: room,
		answer: func(answers []mcp.InputResponse) { answer(room, answers) }}
	ctx, cancel := context.WithCancel(in.ctx)
	q.cancel = cancel
	if in.waker == nil {
		in.waker, _ = script.NewWaker() // without a waker, the call checks for answers at each tick
	}
	if waker := in.waker; waker != nil {
		go func() {
			q.Wait(ctx)
			cancel()
			waker.Wake()
		}()
	}
	return q
}

func (in *inputRelay) fail(err error) {
	in.lost = &lostAnswer{err}
	in.log(mcp.Err, logger, in.lost.Error())
}

func formSchema(schema json.RawMessage) json.RawMessage {
	if rawjson.KindOf(schema) == rawjson.Object {
		return rawjson.Normal(schema)
	}
	return json.RawMessage(`{"type":"object","properties":{}}`)
}

// elicitAnswer maps a response of the client as in T-123.
func (in *inputRelay) elicitAnswer(a mcp.InputResponse) (action string, content json.RawMessage) {
	if a.Error != nil {
		in.log(mcp.Warning, "mcp.elicitation", fmt.Sprintf("Client error: code=%d message=%s", a.Error.Code,
			a.Error.Message))
		return "error", nil
	}
	action = rawjson.TextOf(a.Result, "action")
	if action != "accept" && action != "decline" && action != "cancel" {
		action = "error"
	}
	return action, rawjson.Get(a.Result, "content")
}

// reply passes the answer to the script in one step.
func (in *inputRelay) reply(room *handoff.Reserved, action string, content json.RawMessage) {
	if content == nil {
		content = json.RawMessage("null")
	}
	var b rawjson.Builder
	b.Object().Name("action").String(action).Name("content").Raw(rawjson.Normal(content))
	in.answer(&in.files.Folder, room, elicitAnswer, b.End().Bytes())
}

// startBatch reads a batch of requests. A second batch replaces the first.
func (in *inputRelay) startBatch(content []byte) {
	withdraw(&in.batch)
	ask, err := rawjson.Check(content)
	var fault error
	if err != nil || rawjson.KindOf(ask) != rawjson.Object {
		ask, fault = nil, errors.New("batch.request is not a JSON object")
	}
	var keys []string
	var all []mcp.InputResponse // by key; the errors of refused questions
	var questions []mcp.InputRequest
	for _, m := range rawjson.Members(ask) {
		q, refused, err := in.question(m)
		fault = cmp.Or(fault, err)
		keys, all = append(keys, m.Name), append(all, mcp.InputResponse{Error: refused})
		if refused == nil {
			questions = append(questions, q)
		}
	}
	if len(keys) == 0 {
		keys, fault = []string{""}, cmp.Or(fault, errors.New("batch.request asks nothing"))
	}
	if fault != nil {
		refusal := mcp.InputResponse{Error: mcp.Errorf(mcp.CodeInvalidParams, "%s", fault)}
		in.finish(nil, keys, slices.Repeat([]mcp.InputResponse{refusal}, len(keys)))
		return
	}
	if len(questions) == 0 {
		in.finish(nil, keys, all)
		return
	}
	in.batch = in.ask(questions, &in.files.Input, func(room *handoff.Reserved, answers []mcp.InputResponse) {
		for i := range all {
			if all[i].Error == nil && len(answers) > 0 {
				all[i], answers = answers[0], answers[1:]
			}
		}
		in.finish(room, keys, all)
	})
}

// question parses one member of a batch. refused is set if the client does not support a valid question.
func (in *inputRelay) question(m rawjson.Member) (q mcp.InputRequest, refused *mcp.Error, err error) {
	if !mcp.IsInputKey(m.Name) {
		return q, nil, fmt.Errorf("invalid key %q", m.Name)
	}
	params := rawjson.Get(m.Value, "params")
	if !rawjson.Absent(params) && rawjson.KindOf(params) != rawjson.Object {
		return q, nil, fmt.Errorf("params of %s must be an object", m.Name)
	}
	q = mcp.InputRequest{Key: m.Name, Method: rawjson.TextOf(m.Value, "method")}
	supported := false
	switch q.Method {
	case mcp.MethodElicit:
		q.Params, supported = in.elicitParams(params)
	case mcp.MethodSampling:
		q.Params, supported = rawjson.Normal(params), in.client.CanSample(params)
	case mcp.MethodRoots:
		supported = in.client.Roots
	default:
		return q, nil, fmt.Errorf("method of %s must be elicitation/create, sampling/createMessage or roots/list",
			m.Name)
	}
	if in.asker == nil || !supported {
		return q, errUnsupported, nil
	}
	return q, nil, nil
}

func (in *inputRelay) elicitParams(params json.RawMessage) (json.RawMessage, bool) {
	mode := rawjson.TextOf(params, "mode")
	if mode == "url" {
		return rawjson.Normal(params), in.client.ElicitURL
	}
	if mode == "" {
		var b rawjson.Builder
		params = b.Object().Name("mode").String("form").Members(params, "mode").End().Bytes()
	}
	return rawjson.Normal(params), in.client.ElicitForm
}

// finish passes the answers of a batch to the script.
func (in *inputRelay) finish(room *handoff.Reserved, keys []string, answers []mcp.InputResponse) {
	var b rawjson.Builder
	b.Object()
	for i, key := range keys {
		b.Name(key).Object()
		if err := answers[i].Error; err != nil {
			b.Name("error").Append(err.AppendJSON)
		} else {
			b.Name("result").Raw(rawjson.Normal(answers[i].Result))
		}
		b.End()
	}
	in.answer(&in.files.Input, room, batchAnswer, b.End().Bytes())
}

// answer writes a file for the script, in the reserved space if any, and wakes the script.
func (in *inputRelay) answer(folder *handoff.Folder, room *handoff.Reserved, name string, content []byte) {
	put := folder.Put
	if room != nil {
		put = room.Put
	}
	if err := put(name, content); err != nil {
		in.fail(err)
	}
	in.files.Input.Wake(wakeFIFO)
}
