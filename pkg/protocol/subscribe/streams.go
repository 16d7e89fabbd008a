package subscribe

import (
	"context"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/offer"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
)

// A stream is an open subscriptions/listen request of the stateless protocol. It gets the
// notifications that it asked for until it is cancelled or the server ends (modern section 8).
type stream struct {
	request  *calls.Request
	families set
	subs     []*subscription
}

// Limits of streams.
const (
	MaxStreams  = 64   // that a client may have open over stdio
	maxStreamID = 1024 // bytes, because each notification contains the id
)

var errStreams = mcp.Errorf(mcp.CodeInternal, "Too many open streams")

// listen opens a stream. Its first message acknowledges the notifications that it will get.
func (c *Client) listen(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	wanted := rawjson.Get(r.Params.Raw, "notifications")
	switch {
	case rawjson.KindOf(wanted) != rawjson.Object:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("notifications must be an object")
	case len(r.ID) > maxStreamID:
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData("the id of a stream is too long")
	}
	if rawjson.Get(wanted, "taskIds") != nil && !r.Client.Capabilities.Tasks { // TASK-17
		return nil, mcp.MissingTasks()
	}
	st := &stream{request: r}
	var accepted rawjson.Builder
	accepted.Object()
	for _, i := range []int{0, 2, 1} { // the order of the acknowledgement
		if st.families[i] = rawjson.True(rawjson.Get(wanted, families[i].filter)); st.families[i] {
			accepted.Name(families[i].filter).Bool(true)
		}
	}
	if uris := rawjson.Get(wanted, "resourceSubscriptions"); rawjson.KindOf(uris) == rawjson.Array {
		found, err := c.watchFor(ctx, st, uris)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			accepted.Name("resourceSubscriptions").Strings(found)
		}
	}
	if st.families != (set{}) {
		c.lists.baseline(ctx)
	}
	if err := c.open(st, accepted.End().Bytes()); err != nil {
		c.unwatch(st)
		return nil, err
	}
	c.lists.start()
	r.Shed()
	return &calls.Answer{Open: true}, nil
}

// watchFor subscribes a stream to resources, and returns the readable ones, as the request names them.
func (c *Client) watchFor(ctx context.Context, st *stream, uris json.RawMessage) ([]string, error) {
	var found []string
	for v := range rawjson.Elements(uris) {
		uri, ok := rawjson.Text(v)
		if !ok || slices.Contains(found, uri) || len(found) >= maxSubscriptions {
			continue
		}
		sub, err := c.subscribeStream(ctx, st, uri)
		if ctx.Err() != nil {
			c.unwatch(st)
			return nil, context.Cause(ctx)
		}
		if err == nil {
			found, st.subs = append(found, uri), append(st.subs, sub)
		}
	}
	return found, nil
}

// subscribeStream reads a resource for the first time, within the time limit for that.
func (c *Client) subscribeStream(ctx context.Context, st *stream, uri string) (*subscription, error) {
	if secs := c.fetching.SubscribeTimeout; secs > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settings.Seconds(secs))
		defer cancel()
	}
	watch, err := c.Resources.Watch(ctx, resource.Request{URI: uri, Slot: st.request})
	if err != nil {
		return nil, err
	}
	return c.add(watch, nil, func() bool {
		return st.notify("notifications/resources/updated", rawjson.Member{Name: "uri", Value: rawjson.Quote(uri)})
	})
}

// open acknowledges a stream before anything else is sent for it, and adds it.
func (c *Client) open(st *stream, accepted json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams) >= c.MaxStreams {
		return errStreams
	}
	if !st.notify("notifications/subscriptions/acknowledged", rawjson.Member{Name: "notifications", Value: accepted}) {
		return calls.ErrCancelled
	}
	c.streams = append(c.streams, st)
	for _, sub := range st.subs {
		c.settle(sub, true)
	}
	return nil
}

// notify sends a notification of the stream, and reports whether the stream was still open.
func (st *stream) notify(method string, members ...rawjson.Member) bool {
	var b rawjson.Builder
	b.Object().Name("_meta").Object().Name(revision.MetaSubscriptionID).Raw(json.RawMessage(st.request.ID)).End()
	for _, m := range members {
		b.Name(m.Name).Raw(m.Value)
	}
	return st.request.Notify(jsonrpc.AppendNotification(nil, method, b.End().Bytes()))
}

func (c *Client) streamIndex(key string) int {
	return slices.IndexFunc(c.streams, func(st *stream) bool { return st.request.Key == key })
}

// HasStream reports whether an open stream has this id.
func (c *Client) HasStream(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.streams) > 0 && c.streamIndex(id.Key()) >= 0
}

// CancelStream ends a stream without an answer, and reports whether there was one.
func (c *Client) CancelStream(key string) bool {
	c.mu.Lock()
	i := c.streamIndex(key)
	if i < 0 {
		c.mu.Unlock()
		return false
	}
	st := c.streams[i]
	c.streams = slices.Delete(c.streams, i, i+1)
	c.mu.Unlock()
	st.request.Close()
	c.unwatch(st)
	return true
}

func (c *Client) unwatch(st *stream) {
	for _, sub := range st.subs {
		c.settle(sub, false)
	}
}

// EndStreams answers every stream, because the server ends.
func (c *Client) EndStreams() {
	c.mu.Lock()
	list := c.streams
	c.streams = nil
	c.mu.Unlock()
	for _, st := range list {
		c.unwatch(st)
		st.request.Answer(jsonrpc.AppendResult(nil, st.request.ID, func(dst []byte) []byte {
			b := rawjson.Over(dst)
			b.Object().Name("resultType").String("complete").Name("_meta").Object().
				Name(revision.MetaSubscriptionID).Raw(json.RawMessage(st.request.ID)).
				Name(revision.MetaServerInfo).Raw(offer.ServerName(&c.lists.project.Meta))
			return b.End().End().Bytes()
		}))
	}
}
