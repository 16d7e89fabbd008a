package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A handshakeAsker carries a script's input requests to a client of the handshake
// era: each becomes a request of ours (protocol section 22, T-128).
type handshakeAsker struct{ outgoing *outgoing }

// Ready is [mcp.Asker.Ready]: what the client does not read is not piled up
// (P-1803).
func (a handshakeAsker) Ready() bool { return !a.outgoing.client.full() }

// Patience is [mcp.Asker.Patience]: scripts wait as long as they like.
func (a handshakeAsker) Patience() time.Duration { return 0 }

// Ask is [mcp.Asker.Ask].
func (a handshakeAsker) Ask(requests []mcp.InputRequest) mcp.PendingInput {
	in := &pendingInput{outgoing: a.outgoing}
	for _, r := range requests {
		params := r.Params
		if r.Method == mcp.MethodElicit && rawjson.TextOf(params, "mode") == "url" {
			params = withElicitationID(params)
		}
		in.replies = append(in.replies, a.outgoing.send(r.Method, params))
	}
	a.outgoing.client.push()
	return in
}

// withElicitationID adds what the protocol requires of url elicitations
// (P-2202).
func withElicitationID(params json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	for _, m := range rawjson.Members(params) {
		if m.Name != "elicitationId" {
			b.Name(m.Name).Raw(m.Value)
		}
	}
	return b.Name("elicitationId").String(uuid()).End().Bytes()
}

func uuid() string {
	var u [16]byte
	rand.Read(u[:]) // never fails
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// A pendingInput is what a script asked for and the client has not answered in full.
type pendingInput struct {
	outgoing *outgoing
	replies  []*reply
}

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
			list[i] = r.answer()
		default:
		}
	}
	return list
}

func (r *reply) answer() mcp.InputResponse {
	if r.gone {
		return goneResponse(r.method)
	}
	return mcp.InputResponse{Result: r.result, Error: r.err}
}

// goneResponse is what a script gets whose client is gone (P-903).
func goneResponse(method string) mcp.InputResponse {
	if method == mcp.MethodElicit {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"cancel"}`)}
	}
	return mcp.InputResponse{Error: mcp.Errorf(mcp.CodeToolCancelled, "Cancelled")}
}

func (in *pendingInput) Close() []mcp.InputResponse {
	answers := in.collect()
	for _, r := range in.replies {
		if !in.outgoing.forget(r) {
			continue
		}
		params := fmt.Appendf(nil, `{"requestId":%d,"reason":"no longer needed"}`, r.id)
		in.outgoing.client.notify("notifications/cancelled", params)
	}
	return answers
}
