package server

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/jsonrpc"
)

// A notifier forwards what a script reports to the client, as far as the
// request, the client and the limits allow (protocol sections 14 and 15).
type notifier struct {
	client   *client
	request  *request        // which began the call
	token    json.RawMessage // that of the last report
	sent     float64         // the value the client got last
	value    float64         // of the script, for that
	message  string          // the message with it
	began    bool
	progress throttle
	logs     throttle
}

// Ready is [tool.Listener.Ready].
func (n *notifier) Ready() <-chan struct{} { return n.request.ready() }

// Keep is [tool.Listener.Keep].
func (n *notifier) Keep(r tool.Reports) { n.request.keep(r.Size, func() { r.Deliver(n) }) }

// Progress sends a report with the request's own token. The protocol demands that
// the value goes up. One that stays where it was, with another message, is a sign
// of life that the client must see, so it goes up by the least step; any other that
// does not go up is dropped (P-1401).
func (n *notifier) Progress(p tool.Progress) {
	value, err := strconv.ParseFloat(string(p.Value), 64)
	r := n.request.carrier()
	if r == nil || err != nil {
		return
	}
	token := progressToken(r.meta)
	if token == nil {
		return
	}
	if !bytes.Equal(token, n.token) {
		n.token, n.began = token, false
	}
	sent, shown := value, p.Value
	if n.began && value <= n.sent {
		if value != n.value || p.Message == nil || string(p.Message) == n.message {
			return
		}
		if sent = stepUp(n.sent); math.IsInf(sent, 0) {
			return
		}
		shown = strconv.AppendFloat(nil, sent, 'g', -1, 64)
	}
	if !n.progress.allow(time.Now()) {
		return
	}
	n.sent, n.value, n.message, n.began = sent, value, string(p.Message), true
	var b rawjson.Builder
	b.Object().Name("progressToken").Raw(n.token).Name("progress").Raw(shown)
	if p.Total != nil {
		b.Name("total").Raw(p.Total)
	}
	if p.Message != nil {
		b.Name("message").Raw(p.Message)
	}
	n.send(r, "notifications/progress", b.End().Bytes())
}

// stepUp is the least value above one that every client can tell from it: those
// next to zero would be too small for some.
func stepUp(value float64) float64 {
	const least = 1.0 / (1 << 52)
	return max(math.Nextafter(value, math.Inf(1)), value+least)
}

// Log sends a message at or above the level in force; what is below costs no
// quota (T-104).
func (n *notifier) Log(m tool.LogMessage) {
	r := n.request.carrier()
	if r == nil || m.Level < r.peer.threshold() || !n.logs.allow(time.Now()) {
		return
	}
	var b rawjson.Builder
	b.Object().Name("level").String(m.Level.String())
	if m.Logger != nil {
		b.Name("logger").Raw(m.Logger)
	}
	n.send(r, "notifications/message", b.Name("data").Raw(m.Data).End().Bytes())
}

// send never waits for the client: whoever calls it looks after a script. What a
// client that does not read would miss is counted (P-1805).
func (n *notifier) send(r *request, method string, params json.RawMessage) {
	if n.client.full() {
		n.client.missed.Add(1)
		return
	}
	line := jsonrpc.AppendNotification(nil, method, params)
	if r.queue(n.client.writer, line, false) {
		n.client.record.record("rpc", "-", "ok", line)
		n.client.push()
	}
}

// progressToken returns the token of a request, nil when it has none: a string
// or an integer (P-1400).
func progressToken(meta json.RawMessage) json.RawMessage {
	token := rawjson.Get(meta, "progressToken")
	switch rawjson.KindOf(token) {
	case rawjson.String, rawjson.Number:
		return token
	}
	return nil
}
