package answers

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A Responder answers the questions of a tool: with given answers, or by asking the person at the
// terminal (CLI-809).
type Responder struct {
	Given  *Given            // may be nil
	Person *Person           // nil if nobody can be asked
	Warn   func(text string) // receives what is wrong with an answer
	// Asked is called before each question is answered, and reports whether to leave it open; may be nil.
	Asked func() bool
}

// Capabilities returns those of a client that answers so.
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
