package subscribe

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/uuid"
	"mcp-bash/pkg/protocol/methods"
	"mcp-bash/pkg/wire/mcp"
)

// watches are the resources that a client has subscribed to (resources section 14).
type watches struct {
	fetching *project.Fetching
	session  *session.Session
	ctx      context.Context // of the client

	mu      sync.Mutex
	byID    map[string]*subscription
	byURI   map[string]*watched
	bytes   int // of the URIs
	polling bool

	// An unsubscribe also ends a subscription whose request arrived earlier and still reads the resource (RES-146a).
	arrivals     uint64                    // number of subscribes and unsubscribes that have arrived
	reading      map[*calls.Request]uint64 // subscribes that still read, with their number in arrivals
	unsubscribed map[uint64]uint64         // the last unsubscribe of a URI, by its hash; empty while none reads
	seed         maphash.Seed
}

// A subscription belongs to a session or a stream. Several can have the same URI.
type subscription struct {
	id   string
	of   *watched
	open bool // the response was queued, so the client may be notified
	// notify queues a notification for a stream, and reports whether it was open. It is nil for
	// subscriptions of the session, which gets one notification for all of them.
	notify func() bool
}

// A watched resource has subscriptions. The lock of watches guards it, except for watch, which
// belongs to the goroutine that set busy, or else to the poller.
type watched struct {
	uri   string
	subs  []*subscription // the oldest first
	watch *resource.Watch
	busy  bool            // a check is in progress
	next  time.Time       // when the next check is due
	ctx   context.Context // ends with the last subscription
	stop  context.CancelFunc
}

const (
	maxSubscriptions = 1000    // of a client
	maxURIs          = 1 << 20 // bytes of their URIs
	maxUnsubscribed  = 1 << 16 // URIs that are remembered for subscribes that still read
)

var errSubscriptions = mcp.Errorf(mcp.CodeInternal, "Too many resource subscriptions")

func (w *watches) arrived(r *calls.Request) {
	w.mu.Lock()
	w.arrivals++
	w.reading[r] = w.arrivals
	w.mu.Unlock()
	context.AfterFunc(r.Context, func() { // at the end of the request
		w.mu.Lock()
		defer w.mu.Unlock()
		w.hasRead(r, "")
	})
}

// end ends subscriptions when an unsubscribe arrives. A subscribe that arrives later is not affected.
func (w *watches) end(r *calls.Request) {
	id, uri := r.Params.Text(mcp.ParamSubscription), r.Params.Text(mcp.ParamURI)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrivals++
	if len(w.reading) > 0 && len(w.unsubscribed) < maxUnsubscribed && uri != "" {
		w.unsubscribed[maphash.String(w.seed, uri)] = w.arrivals
	}
	if sub := w.byID[id]; sub != nil && sub.notify == nil {
		w.remove(sub)
	}
	if of := w.byURI[uri]; of != nil {
		for _, sub := range slices.Clone(of.subs) {
			if sub.notify == nil {
				w.remove(sub)
			}
		}
	}
}

// hasRead records that a subscribe has read its resource, or was cancelled. It reports whether
// the URI was unsubscribed meanwhile. The lock is held.
func (w *watches) hasRead(r *calls.Request, uri string) (unsubscribed bool) {
	arrived, ok := w.reading[r]
	unsubscribed = ok && w.unsubscribed[maphash.String(w.seed, uri)] > arrived
	if delete(w.reading, r); len(w.reading) == 0 {
		clear(w.unsubscribed)
	}
	return unsubscribed
}

// subscribe answers resources/subscribe. Later reads are compared with the content at the response.
func (c *Client) subscribe(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	req, err := methods.ResourceRequest(&r.Params)
	if err != nil {
		return nil, err
	}
	if c.full() {
		return nil, errSubscriptions
	}
	if req.Slot = r; c.fetching.UseRoots {
		r.Client.Roots(ctx, r) // the provider asks for them later
	}
	watch, err := c.Resources.Watch(ctx, req)
	if err != nil {
		if e, ok := errors.AsType[*mcp.Error](err); ok && ctx.Err() == nil {
			c.Session.Log(mcp.Err, "mcp.resources", fmt.Sprintf("Initial read failed code=%d msg=%s", e.Code, e.Message))
		}
		return nil, err
	}
	sub, err := c.add(watch, r, nil)
	if err != nil {
		return nil, err
	}
	var b rawjson.Builder
	b.Object()
	mode := c.fetching.SubscribeResult
	if mode == "id" || mode == "auto" && req.Name != "" {
		b.Name("subscriptionId").String(sub.id)
	} else {
		b.Name("_meta").Object().Name("mcpbash/subscriptionId").String(sub.id).End()
	}
	answer := calls.Bytes(b.End().Bytes())
	answer.Done = func(sent bool) { c.settle(sub, sent) }
	return answer, nil
}

func (w *watches) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byID) >= maxSubscriptions
}

// add adds a subscription before the client gets its id. It does nothing if the request r was unsubscribed before its
// answer. r is nil for a stream.
func (w *watches) add(watch *resource.Watch, r *calls.Request, notify func() bool) (*subscription, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	uri, id := watch.URI(), "sub-"+uuid.New()
	if w.hasRead(r, uri) {
		return &subscription{id: id}, nil
	}
	if len(w.byID) >= maxSubscriptions || w.bytes+len(uri) > maxURIs {
		return nil, errSubscriptions
	}
	w.bytes += len(uri)
	of := w.byURI[uri]
	if of == nil {
		of = &watched{uri: uri, watch: watch}
		of.ctx, of.stop = context.WithCancel(w.ctx)
		of.rest()
		w.byURI[uri] = of
	}
	sub := &subscription{id: id, of: of, notify: notify}
	of.subs = append(of.subs, sub)
	w.byID[id] = sub
	if interval := w.fetching.Poll; interval > 0 && !w.polling {
		w.polling = true
		go w.poll(interval)
	}
	return sub, nil
}

// settle is called when the response for a subscription was queued, or will not be sent.
func (w *watches) settle(sub *subscription, sent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent {
		sub.open = true
	} else {
		w.remove(sub)
	}
}

// unsubscribe answers resources/unsubscribe. [watches.end] has done the work.
func unsubscribe(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	if r.Params.Text(mcp.ParamSubscription) == "" && r.Params.Text(mcp.ParamURI) == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Resource uri required")
	}
	return calls.Bytes([]byte("{}")), nil
}

// remove ends a subscription, if it has not ended yet. The lock is held.
func (w *watches) remove(sub *subscription) {
	if w.byID[sub.id] == nil {
		return
	}
	delete(w.byID, sub.id)
	of := sub.of
	w.bytes -= len(of.uri)
	of.subs = slices.DeleteFunc(of.subs, func(s *subscription) bool { return s == sub })
	if len(of.subs) == 0 {
		of.stop()
		delete(w.byURI, of.uri)
	}
}

// reconsider is called when the list of resources has changed: a URI can have another provider or type, or none.
func (w *watches) reconsider() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range w.byURI {
		of.watch.Reconsider()
	}
}

const (
	pollReads  = 4                // at once
	remoteRest = 30 * time.Second // between two reads over the network
)

// poll checks the watched resources in rounds, until no resource is watched. An unchanged file costs one stat. All
// other resources are read. A slow read delays only resources that wait for one of the reads, and later rounds skip
// the slow resource until its read ends.
func (w *watches) poll(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	slots := make(chan struct{}, pollReads)
	var due []*watched
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-ticker.C:
		}
		if w.session.Full() { // changes are found later, when the client can be notified
			continue
		}
		var over bool
		if due, over = w.due(due[:0]); over {
			return
		}
		for _, of := range due {
			if of.watch.Still() {
				w.checked(of, false)
				continue
			}
			go func() {
				slots <- struct{}{}
				changed := of.watch.Changed(of.ctx)
				<-slots
				w.checked(of, changed)
			}()
		}
		clear(due)
	}
}

// due appends the resources that this round checks, and marks them busy. over reports that there
// are no watched resources, so that this poller ends.
func (w *watches) due(list []*watched) (due []*watched, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.byURI) == 0 {
		w.polling = false
		return nil, true
	}
	now := time.Now()
	for _, of := range w.byURI {
		open := func(sub *subscription) bool { return sub.open }
		if !of.busy && !now.Before(of.next) && slices.ContainsFunc(of.subs, open) {
			of.busy = true
			list = append(list, of)
		}
	}
	return list, false
}

// checked ends a check, and notifies the client of a change. It holds the lock, so that no notification follows an
// unsubscribe.
func (w *watches) checked(of *watched, changed bool) {
	w.mu.Lock()
	of.busy = false
	of.rest()
	queued := changed && w.notify(of)
	w.mu.Unlock()
	if queued {
		w.session.Push()
	}
}

// rest delays the next check if it transfers data over the network.
func (of *watched) rest() {
	if of.watch.Remote() {
		of.next = time.Now().Add(remoteRest)
	}
}

// notify queues a notification for each stream, and one for the session with the id of its oldest
// subscription. It reports whether it queued any for the session.
func (w *watches) notify(of *watched) (queued bool) {
	var oldest *subscription
	for _, sub := range of.subs {
		switch {
		case !sub.open:
		case sub.notify != nil:
			sub.notify()
		case oldest == nil:
			oldest = sub
		}
	}
	if oldest == nil || !w.session.At(session.Ready) {
		return false
	}
	var b rawjson.Builder
	b.Object().Name("uri").String(of.uri).Name("subscriptionId").String(oldest.id).
		Name("subscription").Object().Name("id").String(oldest.id).Name("uri").String(of.uri).End().End()
	w.session.QueueNotification("notifications/resources/updated", b.Bytes())
	return true
}
