// Package answers answers the questions of a tool: with given answers, or by asking a person at a terminal.
//
// A [Responder] takes the place of a client that can be asked. It first looks into the [Given] answers, then asks the
// [Person], if there is one.
package answers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// Given are answers that were given beforehand. An array has one answer for each question in order. An object has
// answers by the keys of questions, or values by the names of fields.
type Given struct {
	mu    sync.Mutex
	list  []json.RawMessage
	keyed json.RawMessage // nil for a list
	nth   int             // number of questions so far
}

// Read returns the answers in a value. ok is false unless it is an array or an object.
func Read(v json.RawMessage) (given *Given, ok bool) {
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		return &Given{list: slices.Collect(rawjson.Elements(v))}, true
	case rawjson.Object:
		return &Given{keyed: v}, true
	}
	return nil, false
}

// to returns the answer to a question. The error is for a missing or invalid answer.
func (a *Given) to(key string, f *form) (json.RawMessage, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	question := fmt.Sprintf("%q", f.message)
	if a.keyed == nil {
		a.nth++
		if a.nth > len(a.list) {
			return nil, fmt.Errorf("no answer to question %d, %s", a.nth, question)
		}
		return a.reply(a.list[a.nth-1], f, question)
	}
	if given := rawjson.Get(a.keyed, key); key != "" && given != nil {
		return a.reply(given, f, question)
	}
	values := map[string]json.RawMessage{}
	for _, field := range f.fields {
		if v := rawjson.Get(a.keyed, field.name); v != nil {
			values[field.name] = v
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("no answer to %s; give one by %s, or a list in the order of the questions",
			question, f.names(key))
	}
	return accepted(f, values, question)
}

func (f *form) names(key string) string {
	var names, fields []string
	if key != "" {
		names = append(names, fmt.Sprintf("its key %q", key))
	}
	for _, field := range f.fields {
		fields = append(fields, fmt.Sprintf("%q", field.name))
	}
	if fields != nil {
		names = append(names, "its fields "+strings.Join(fields, ", "))
	}
	if names == nil {
		return "a key (--key)"
	}
	return strings.Join(names, ", by ")
}

// reply parses one answer: an action, with or without content; the content; or the value of a form's only field.
func (a *Given) reply(given json.RawMessage, f *form, question string) (json.RawMessage, error) {
	word, isText := rawjson.Text(given)
	if !isText {
		word = rawjson.TextOf(given, "action")
	}
	switch word {
	case "decline", "cancel":
		return action(word, nil), nil
	case "accept":
		given = rawjson.Get(given, "content")
		if given == nil {
			given = json.RawMessage("{}")
		}
	}
	if f.url != "" {
		switch {
		case word == "accept", rawjson.True(given):
			return action("accept", nil), nil
		case string(given) == "false":
			return action("decline", nil), nil
		}
		return nil, fmt.Errorf(`the answer to %s, which is a page to open, must be "accept", "decline" or "cancel"`,
			question)
	}
	values := map[string]json.RawMessage{}
	switch {
	case rawjson.KindOf(given) == rawjson.Object:
		for _, m := range rawjson.Members(given) {
			values[m.Name] = m.Value
		}
	case len(f.fields) == 1:
		values[f.fields[0].name] = given
	default:
		return nil, fmt.Errorf("the answer to %s must be an object, or accept, decline or cancel", question)
	}
	return accepted(f, values, question)
}

// accepted returns the answer with these values, if they are valid.
func accepted(f *form, values map[string]json.RawMessage, question string) (json.RawMessage, error) {
	for i := range f.fields {
		field := &f.fields[i]
		v := values[field.name]
		if v == nil {
			continue
		}
		if err := field.check(v); err != nil {
			return nil, fmt.Errorf("%s in the answer to %s: %w", field.name, question, err)
		}
	}
	content, missing := f.content(values)
	if missing != "" {
		return nil, fmt.Errorf("%s is missing in the answer to %s", missing, question)
	}
	return action("accept", content), nil
}

// A Responder answers the questions of a tool: with given answers, or by asking the person at the terminal.
type Responder struct {
	Given  *Given            // may be nil
	Person *Person           // nil if nobody can be asked
	Warn   func(text string) // receives what is wrong with an answer
	// Asked is called before each question is answered, and reports whether to leave it open; may be nil.
	Asked func() bool
}

// Capabilities returns the capabilities of a client that can give these answers.
func (i *Responder) Capabilities() mcp.Capabilities {
	asks := i.Given != nil || i.Person != nil
	return mcp.Capabilities{ElicitForm: asks, ElicitURL: asks}
}

// Ready implements [mcp.Asker].
func (i *Responder) Ready() bool { return true }

// Patience implements [mcp.Asker].
func (i *Responder) Patience() time.Duration { return 0 }

// Ask implements [mcp.Asker].
func (i *Responder) Ask(questions []mcp.InputRequest) mcp.PendingInput {
	ctx, cancel := context.WithCancel(context.Background())
	in := &pendingInput{cancel: cancel, answers: make([]mcp.InputResponse, len(questions)), done: make(chan struct{})}
	go func() {
		defer close(in.done)
		for n, q := range questions {
			reply := i.answer(ctx, q)
			if ctx.Err() != nil {
				return
			}
			in.mu.Lock()
			in.answers[n].Result = reply
			in.mu.Unlock()
		}
	}()
	return in
}

// Interrupted cancels the open question on Ctrl-C. It reports whether there was one.
func (i *Responder) Interrupted(sig os.Signal) bool {
	return i.Person != nil && sig == os.Interrupt && i.Person.interrupt()
}

func (i *Responder) answer(ctx context.Context, q mcp.InputRequest) json.RawMessage {
	if i.Asked != nil && i.Asked() {
		<-ctx.Done()
		return nil
	}
	f := readForm(q)
	if i.Given != nil {
		reply, err := i.Given.to(q.Key, f)
		switch {
		case err != nil:
			i.Warn(err.Error())
		case reply != nil:
			return reply
		}
	}
	if i.Person != nil {
		return i.Person.ask(ctx, f)
	}
	return action("cancel", nil)
}

func action(word string, content json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("action").String(word)
	b.OptionalRaw("content", content)
	return b.End().Bytes()
}

type pendingInput struct {
	cancel  context.CancelFunc
	done    chan struct{}
	mu      sync.Mutex
	answers []mcp.InputResponse
}

func (in *pendingInput) Responses() ([]mcp.InputResponse, bool) {
	select {
	case <-in.done:
		return in.answers, true
	default:
		return nil, false
	}
}

func (in *pendingInput) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	select {
	case <-in.done:
		return in.answers, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements [mcp.PendingInput].
func (in *pendingInput) Close() []mcp.InputResponse {
	in.cancel()
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]mcp.InputResponse(nil), in.answers...)
}
