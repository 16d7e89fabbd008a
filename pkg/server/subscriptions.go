package server

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
	"mcp-bash/pkg/wire/mcp"
)

// subscriptions are what the client wants to be told of when it changes
// (resources section 14).
type subscriptions struct {
	resources *resource.Resources
	fetching  *project.Fetching
	session   *session
	client    *client
	log       mcp.LogFunc
	ctx       context.Context // of the server

	mu      sync.Mutex
	byID    map[string]*subscription
	byURI   map[string]*watched
	bytes   int // of the URIs
	polling bool

	// An unsubscribe wins over a subscribe that arrived before it and still reads (RES-146a).
	arrivals     uint64              // how many of both have arrived
	reading      map[*request]uint64 // when each subscribe arrived that has not read yet
	unsubscribed map[uint64]uint64   // when a URI, by its hash, was last unsubscribed; empty while nothing reads
	seed         maphash.Seed
}

// A subscription is one of the client's; several may be of one URI.
type subscription struct {
	id   string
	of   *watched
	open bool // its response is on its way, so the client may be told
	// tell queues a notification for it alone, and reports whether it did. It is nil for those
	// of the session, of which one is told for all.
	tell func() bool
}

// A watched resource has subscriptions; mu of subscriptions guards it, but for
// watch, which belongs to whoever set busy, else to the poller.
type watched struct {
	uri   string
	subs  []*subscription // the oldest first
	watch *resource.Watch
	busy  bool            // it is being looked at
	rests time.Time       // until when it is left alone
	ctx   context.Context // ends with the last subscription
	stop  context.CancelFunc
}

const (
	maxSubscriptions = 1000    // that a session may have (RES-147)
	maxURIs          = 1 << 20 // bytes of their URIs
)

var errSubscriptions = mcp.Errorf(mcp.CodeInternal, "Too many resource subscriptions")

// methods are those of a session, which has no streams.
func (p *subscriptions) methods() []*method {
	return []*method{
		{name: "resources/subscribe", arrive: p.begin, handle: p.subscribe,
			limit: func() int { return p.fetching.SubscribeTimeout }},
		{name: "resources/unsubscribe", arrive: p.end, handle: p.unsubscribe},
	}
}

// begin notes that a subscribe has arrived.
func (p *subscriptions) begin(r *request) {
	p.mu.Lock()
	p.arrivals++
	p.reading[r] = p.arrivals
	p.mu.Unlock()
	context.AfterFunc(r.ctx, func() { // which ends with the request
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hasRead(r, "")
	})
}

// maxUnsubscribed is how many URIs are kept for subscribes that still read.
const maxUnsubscribed = 1 << 16

// end ends subscriptions when an unsubscribe arrives (RES-146), also those whose subscribe still reads. It
// does so before a later subscribe arrives, which stays.
func (p *subscriptions) end(r *request) {
	id, uri := rawjson.TextOf(r.params, "subscriptionId"), rawjson.TextOf(r.params, "uri")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrivals++
	if len(p.reading) > 0 && len(p.unsubscribed) < maxUnsubscribed && uri != "" {
		p.unsubscribed[maphash.String(p.seed, uri)] = p.arrivals
	}
	if sub := p.byID[id]; sub != nil && sub.tell == nil {
		p.remove(sub)
	}
	if w := p.byURI[uri]; w != nil {
		for _, sub := range slices.Clone(w.subs) {
			if sub.tell == nil {
				p.remove(sub)
			}
		}
	}
}

// hasRead notes that a subscribe has read its resource, or is given up. It reports whether the URI was
// unsubscribed meanwhile. The lock is held.
func (p *subscriptions) hasRead(r *request, uri string) (overtaken bool) {
	arrived, ok := p.reading[r]
	overtaken = ok && p.unsubscribed[maphash.String(p.seed, uri)] > arrived
	if delete(p.reading, r); len(p.reading) == 0 {
		clear(p.unsubscribed)
	}
	return overtaken
}

// subscribe is resources/subscribe (RES-141 to RES-143). What is read here is
// what later reads are compared with, so it comes before the response.
func (p *subscriptions) subscribe(ctx context.Context, r *request) (*answer, error) {
	req, err := resourceRequest(r.params)
	if err != nil {
		return nil, err
	}
	if p.full() {
		return nil, errSubscriptions
	}
	watch, err := p.resources.Watch(ctx, req)
	if err != nil {
		var e *mcp.Error
		if errors.As(err, &e) && ctx.Err() == nil {
			p.log(mcp.Err, "mcp.resources", fmt.Sprintf("Initial read failed code=%d msg=%s", e.Code, e.Message))
		}
		return nil, err
	}
	sub, err := p.add(watch, r, nil)
	if err != nil {
		return nil, err
	}
	var b rawjson.Builder
	b.Object()
	mode := p.fetching.SubscribeResult
	if mode == "id" || mode == "auto" && req.Name != "" {
		b.Name("subscriptionId").String(sub.id)
	} else {
		b.Name("_meta").Object().Name("mcpbash/subscriptionId").String(sub.id).End()
	}
	result := b.End().Bytes()
	return &answer{
		size: len(result) + 64, append: func(dst []byte, _ mcp.Extra) []byte { return append(dst, result...) },
		done: func(sent bool) { p.settle(sub, sent) },
	}, nil
}

func (p *subscriptions) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.byID) >= maxSubscriptions
}

// add enters a subscription, which the client is not told of yet. One that was unsubscribed before its
// request, if it has one, could be answered is not entered.
func (p *subscriptions) add(watch *resource.Watch, r *request, tell func() bool) (*subscription, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasRead(r, watch.URI()) {
		return &subscription{id: "sub-" + uuid()}, nil
	}
	if len(p.byID) >= maxSubscriptions || p.bytes+len(watch.URI()) > maxURIs {
		return nil, errSubscriptions
	}
	p.bytes += len(watch.URI())
	w := p.byURI[watch.URI()]
	if w == nil {
		w = &watched{uri: watch.URI(), watch: watch}
		w.ctx, w.stop = context.WithCancel(p.ctx)
		w.rest()
		p.byURI[w.uri] = w
	}
	sub := &subscription{id: "sub-" + uuid(), of: w, tell: tell}
	w.subs = append(w.subs, sub)
	p.byID[sub.id] = sub
	if interval := p.fetching.Poll; interval > 0 && !p.polling {
		p.polling = true
		go p.poll(interval)
	}
	return sub, nil
}

// settle is called when the response of a subscription is on its way, or when
// there will be none: the request was cancelled (RES-143).
func (p *subscriptions) settle(sub *subscription, sent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sent {
		sub.open = true
	} else {
		p.remove(sub)
	}
}

// unsubscribe is resources/unsubscribe (RES-146); end has done the work.
func (p *subscriptions) unsubscribe(_ context.Context, r *request) (*answer, error) {
	if rawjson.TextOf(r.params, "subscriptionId") == "" && rawjson.TextOf(r.params, "uri") == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Resource uri required")
	}
	return &answer{append: func(dst []byte, _ mcp.Extra) []byte { return append(dst, "{}"...) }}, nil
}

// remove ends a subscription, if it has not ended yet. The lock is held.
func (p *subscriptions) remove(sub *subscription) {
	if p.byID[sub.id] == nil {
		return
	}
	delete(p.byID, sub.id)
	p.bytes -= len(sub.of.uri)
	w := sub.of
	w.subs = slices.DeleteFunc(w.subs, func(s *subscription) bool { return s == sub })
	if len(w.subs) == 0 {
		w.stop()
		delete(p.byURI, w.uri)
	}
}

// reconsider is called when the registry of resources has changed: a URI may
// have got another provider or type, or none.
func (p *subscriptions) reconsider() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.byURI {
		w.watch.Reconsider()
	}
}
