package calls

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/internal/throttle"
	"mcp-bash/pkg/wire/jsonrpc"
)

// A Notifier forwards progress and logs of a script to the client, within the limits (protocol
// sections 14 and 15). The request asks for progress, and the client sets the level of logs.
type Notifier struct {
	request  *Request        // the first of the call
	token    json.RawMessage // of the last report
	sent     float64         // the value that the client got last
	value    float64         // the value of the script for it
	message  string          // the message with it
	began    bool
	progress throttle.Throttle
	logs     throttle.Throttle
}

// NewNotifier returns a Notifier for the call that a request begins.
func NewNotifier(r *Request, limits *project.Limits) *Notifier {
	return &Notifier{request: r, progress: throttle.New(limits.Progress), logs: throttle.New(limits.Logs)}
}

// Ready implements [tool.Listener].
func (n *Notifier) Ready() bool { return n.request.Call == nil || n.request.Call.Listening() }

// Keep implements [tool.Listener].
func (n *Notifier) Keep(r tool.Reports) { n.request.Call.Keep(r.Size, func() { r.Deliver(n) }) }

// Progress sends a report with the request's own token. The protocol requires increasing values.
// An equal value with another message still shows that the script works, so it is increased by
// the smallest step. Any other value that does not increase is dropped (P-1401).
func (n *Notifier) Progress(p tool.Progress) {
	value, err := strconv.ParseFloat(string(p.Value), 64)
	r := n.request.Serving()
	if r == nil || err != nil {
		return
	}
	token := ProgressToken(r.Params.Meta())
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
	if !n.progress.Allow(time.Now()) {
		return
	}
	n.sent, n.value, n.message, n.began = sent, value, string(p.Message), true
	var b rawjson.Builder
	b.Object().Name("progressToken").Raw(n.token).Name("progress").Raw(shown)
	b.OptionalRaw("total", p.Total)
	b.OptionalRaw("message", p.Message)
	notify(r, "notifications/progress", b.End().Bytes())
}

// stepUp returns the smallest larger value that every client can distinguish. Values next to
// zero are too small for some clients.
func stepUp(value float64) float64 {
	const smallest = 1.0 / (1 << 52)
	return max(math.Nextafter(value, math.Inf(1)), value+smallest)
}

// Log sends a message, if its level is high enough. Other messages do not count towards the
// limit (T-104).
func (n *Notifier) Log(m tool.LogMessage) {
	r := n.request.Serving()
	if r == nil || m.Level < r.Client.Threshold() || !n.logs.Allow(time.Now()) {
		return
	}
	var b rawjson.Builder
	b.Object().Name("level").String(m.Level.String())
	b.OptionalRaw("logger", m.Logger)
	notify(r, "notifications/message", b.Name("data").Raw(m.Data).End().Bytes())
}

// notify never waits for the client, because its goroutine watches a script. It counts messages
// that a client does not get because it does not read (P-1805).
func notify(r *Request, method string, params json.RawMessage) {
	if r.Out.Full() {
		r.requests.Session.Missed()
		return
	}
	r.Notify(jsonrpc.AppendNotification(nil, method, params))
}

// ProgressToken returns the token in a request's _meta, a string or an integer, or nil (P-1400).
func ProgressToken(meta json.RawMessage) json.RawMessage {
	token := rawjson.Get(meta, "progressToken")
	switch rawjson.KindOf(token) {
	case rawjson.String, rawjson.Number:
		return token
	}
	return nil
}
