package handshake

import (
	"context"
	"fmt"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/uuid"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// An asker sends each input request of a script as a request to the client (protocol section 22,
// T-128). It implements [mcp.Asker].
type asker struct {
	outgoing *Outgoing
	out      session.Sink
}

// Ready implements [mcp.Asker] (P-1803).
func (a asker) Ready() bool { return !a.out.Full() }

// Patience implements [mcp.Asker]. Scripts wait as long as they like.
func (a asker) Patience() time.Duration { return 0 }

// Ask implements [mcp.Asker].
func (a asker) Ask(requests []mcp.InputRequest) mcp.PendingInput {
	in := &pendingInput{asker: a}
	for _, r := range requests {
		params := r.Params
		if r.Method == mcp.MethodElicit && rawjson.TextOf(params, "mode") == "url" {
			params = withElicitationID(params)
		}
		in.replies = append(in.replies, a.outgoing.send(a.out, r.Method, params))
	}
	a.out.Push()
	return in
}

// withElicitationID adds the member that URL elicitations require (P-2202).
func withElicitationID(params []byte) []byte {
	var b rawjson.Builder
	b.Object().Members(params, "elicitationId")
	return b.Name("elicitationId").String(uuid.New()).End().Bytes()
}

// A pendingInput contains the questions that a script asked together. It implements
// [mcp.PendingInput].
type pendingInput struct {
	asker
	replies []*reply
}

// Responses implements [mcp.PendingInput].
func (in *pendingInput) Responses() ([]mcp.InputResponse, bool) {
	for _, r := range in.replies {
		select {
		case <-r.done:
		default:
			return nil, false
		}
	}
	return in.collect(), true
}

// Wait implements [mcp.PendingInput].
func (in *pendingInput) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	for _, r := range in.replies {
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return in.collect(), nil
}

func (in *pendingInput) collect() []mcp.InputResponse {
	list := make([]mcp.InputResponse, len(in.replies))
	for i, r := range in.replies {
		select {
		case <-r.done:
			if list[i] = (mcp.InputResponse{Result: r.result, Error: r.err}); r.gone {
				list[i] = calls.GoneResponse(r.method)
			}
		default:
		}
	}
	return list
}

// Close implements [mcp.PendingInput].
func (in *pendingInput) Close() []mcp.InputResponse {
	answers := in.collect()
	for _, r := range in.replies {
		if !in.outgoing.forget(r) {
			continue
		}
		line := jsonrpc.AppendNotification(nil, "notifications/cancelled",
			fmt.Appendf(nil, `{"requestId":%d,"reason":"no longer needed"}`, r.id))
		in.outgoing.session.Record("rpc", "-", "ok", line)
		in.out.Queue(line)
		in.out.Push()
	}
	return answers
}
