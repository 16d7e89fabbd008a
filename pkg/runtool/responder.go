package runtool

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A responder answers the questions of a tool: with the answers of --elicit, or by asking the
// person at the terminal (CLI-809).
type responder struct {
	given  *answers // may be nil
	person *person  // nil if nobody can be asked
	warn   func(text string)
}

func (i *responder) capabilities() mcp.Capabilities {
	asks := i.given != nil || i.person != nil
	return mcp.Capabilities{ElicitForm: asks, ElicitURL: asks}
}

// Ready implements [mcp.Asker].
func (i *responder) Ready() bool { return true }

// Patience implements [mcp.Asker].
func (i *responder) Patience() time.Duration { return 0 }

// Ask implements [mcp.Asker].
func (i *responder) Ask(questions []mcp.InputRequest) mcp.PendingInput {
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

// interrupted cancels the open question on Ctrl-C. It reports whether there was one.
func (i *responder) interrupted(sig os.Signal) bool {
	return i.person != nil && sig == os.Interrupt && i.person.interrupt()
}

func (i *responder) answer(ctx context.Context, q mcp.InputRequest) json.RawMessage {
	f := readForm(q)
	if i.given != nil {
		reply, err := i.given.to(q.Key, f)
		switch {
		case err != nil:
			i.warn("--elicit: " + err.Error())
		case reply != nil:
			return reply
		}
	}
	if i.person != nil {
		return i.person.ask(ctx, f)
	}
	return action("cancel", nil)
}

func action(word string, content json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("action").String(word)
	if content != nil {
		b.Name("content").Raw(content)
	}
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
