package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// streams are the open subscriptions/listen requests of the stateless era: each is told of
// what it asked for until it is cancelled or the server ends (modern section 8).
type streams struct {
	fetching      *project.Fetching
	resources     *resource.Resources
	subscriptions *subscriptions
	client        *client
	changes       *changeWatch
	info          json.RawMessage // of the server, for the last answer

	mu   sync.Mutex
	list []*stream // the eldest first
}

// A stream is one of them.
type stream struct {
	client   *client
	request  *request
	families []string // of lists
	subs     []*subscription
}

const (
	maxStreams  = 64   // that may be open (M-60)
	maxStreamID = 1024 // bytes: the id goes with every notification
)

var errStreams = mcp.Errorf(mcp.CodeInternal, "Too many open streams")

// filters are the names of the lists in a request, by family.
var filters = []struct{ name, family string }{
	{"toolsListChanged", "tools"}, {"promptsListChanged", "prompts"}, {"resourcesListChanged", "resources"},
}

func (s *streams) methods() []*method {
	return []*method{{name: "subscriptions/listen", handle: s.listen, ownClock: true}}
}

// listen opens a stream: what can be told of is acknowledged first (M-60, M-64).
func (s *streams) listen(ctx context.Context, r *request) (*answer, error) {
	wanted := rawjson.Get(r.params, "notifications")
	switch {
	case rawjson.KindOf(wanted) != rawjson.Object:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("notifications must be an object")
	case len(r.id) > maxStreamID:
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData("the id of a stream is too long")
	}
	st := &stream{client: s.client, request: r}
	var honoured rawjson.Builder
	honoured.Object()
	for _, f := range filters {
		if rawjson.True(rawjson.Get(wanted, f.name)) {
			st.families = append(st.families, f.family)
			honoured.Name(f.name).Bool(true)
		}
	}
	if uris := rawjson.Get(wanted, "resourceSubscriptions"); rawjson.KindOf(uris) == rawjson.Array {
		found, err := s.watch(ctx, st, uris)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			honoured.Name("resourceSubscriptions").Strings(found)
		}
	}
	if len(st.families) > 0 {
		s.changes.baseline(ctx)
	}
	if err := s.open(st, honoured.End().Bytes()); err != nil {
		s.unwatch(st)
		return nil, err
	}
	s.changes.start()
	r.shed()
	return &answer{open: true}, nil
}

// watch subscribes a stream to resources, and returns those that can be read, as the request
// names them.
func (s *streams) watch(ctx context.Context, st *stream, uris json.RawMessage) ([]string, error) {
	var found []string
	for v := range rawjson.Elements(uris) {
		uri, ok := rawjson.Text(v)
		if !ok || slices.Contains(found, uri) || len(found) >= maxSubscriptions {
			continue
		}
		sub, err := s.subscribe(ctx, st, uri)
		if ctx.Err() != nil {
			s.unwatch(st)
			return nil, context.Cause(ctx)
		}
		if err == nil {
			found, st.subs = append(found, uri), append(st.subs, sub)
		}
	}
	return found, nil
}

// subscribe reads a resource for the first time, within the time that has.
func (s *streams) subscribe(ctx context.Context, st *stream, uri string) (*subscription, error) {
	if secs := s.fetching.SubscribeTimeout; secs > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settings.Seconds(secs))
		defer cancel()
	}
	watch, err := s.resources.Watch(ctx, resource.Request{URI: uri})
	if err != nil {
		return nil, err
	}
	return s.subscriptions.add(watch, nil, func() bool {
		return st.tell("notifications/resources/updated", rawjson.Member{Name: "uri", Value: rawjson.Quote(uri)})
	})
}

// open acknowledges a stream before anything else is sent on it, and enters it.
func (s *streams) open(st *stream, honoured json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) >= maxStreams {
		return errStreams
	}
	if !st.tell("notifications/subscriptions/acknowledged", rawjson.Member{Name: "notifications", Value: honoured}) {
		return errCancelledByClient
	}
	s.list = append(s.list, st)
	for _, sub := range st.subs {
		s.subscriptions.settle(sub, true)
	}
	return nil
}

// tell queues a notification of the stream, and reports whether it is still open.
func (st *stream) tell(method string, members ...rawjson.Member) bool {
	var b rawjson.Builder
	b.Object().Name("_meta").Object().Name(mcp.MetaSubscriptionID).Raw(json.RawMessage(st.request.id)).End()
	for _, m := range members {
		b.Name(m.Name).Raw(m.Value)
	}
	return st.send(jsonrpc.AppendNotification(nil, method, b.End().Bytes()), false)
}

// send queues a line of the stream, the last one or not, and reports whether it was still
// open.
func (st *stream) send(line []byte, last bool) bool {
	if !st.request.queue(st.client.writer, line, last) {
		return false
	}
	st.client.record.record("rpc", "-", "ok", line)
	st.client.push()
	return true
}

// listening is [audience.listening].
func (s *streams) listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) > 0
}

// changed is [audience.changed]: every stream that asked for the family is told (M-61).
func (s *streams) changed(family string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.list {
		if slices.Contains(st.families, family) {
			st.tell("notifications/" + family + "/list_changed")
		}
	}
}

// has reports whether the id of an open stream is in use.
func (s *streams) has(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return false
	}
	key := id.Key()
	return slices.ContainsFunc(s.list, func(st *stream) bool { return st.request.key == key })
}

// cancel ends a stream without an answer, and reports whether there is one (M-62).
func (s *streams) cancel(key string) bool {
	s.mu.Lock()
	i := slices.IndexFunc(s.list, func(st *stream) bool { return st.request.key == key })
	if i < 0 {
		s.mu.Unlock()
		return false
	}
	st := s.list[i]
	s.list = slices.Delete(s.list, i, i+1)
	s.mu.Unlock()
	st.request.close()
	s.unwatch(st)
	return true
}

func (s *streams) unwatch(st *stream) {
	for _, sub := range st.subs {
		s.subscriptions.settle(sub, false)
	}
}

// end answers every stream, for the server ends (M-62).
func (s *streams) end() {
	s.mu.Lock()
	list := s.list
	s.list = nil
	s.mu.Unlock()
	for _, st := range list {
		s.unwatch(st)
		st.send(jsonrpc.AppendResult(nil, st.request.id, func(dst []byte) []byte {
			b := rawjson.Over(dst)
			b.Object().Name("resultType").String("complete").Name("_meta").Object().
				Name(mcp.MetaSubscriptionID).Raw(json.RawMessage(st.request.id)).
				Name(mcp.MetaServerInfo).Raw(s.info)
			return b.End().End().Bytes()
		}), true)
	}
}
