package server

import (
	"slices"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/jsonrpc"
)

const (
	pollReads  = 4                // at once (RES-144)
	remoteRest = 30 * time.Second // between two reads over the network (RES-149)
)

// poll looks at what is watched, in rounds, until nothing is. A file that has
// not changed costs a look at its directory entry; everything else is read.
// What takes long holds up nothing but what waits for one of the reads, and is
// passed over until it is done.
func (p *subscriptions) poll(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	slots := make(chan struct{}, pollReads)
	var due []*watched
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		if p.client.full() { // a change stays one until it is told
			continue
		}
		var over bool
		if due, over = p.due(due[:0]); over {
			return
		}
		for _, w := range due {
			if w.watch.Still() {
				p.looked(w, false)
				continue
			}
			go func() {
				slots <- struct{}{}
				changed := w.watch.Changed(w.ctx)
				<-slots
				p.looked(w, changed)
			}()
		}
		clear(due)
	}
}

// due appends what this round has to look at, and makes it busy. over: there is
// nothing to watch any more, and this poller ends.
func (p *subscriptions) due(list []*watched) (due []*watched, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byURI) == 0 {
		p.polling = false
		return nil, true
	}
	now := time.Now()
	for _, w := range p.byURI {
		if !w.busy && !now.Before(w.rests) && w.isOpen() {
			w.busy = true
			list = append(list, w)
		}
	}
	return list, false
}

// looked ends a look, and tells the client of a change (RES-145): under the
// lock, so that nothing is said of what is unsubscribed already.
func (p *subscriptions) looked(w *watched, changed bool) {
	p.mu.Lock()
	w.busy = false
	w.rest()
	told := changed && p.tell(w)
	p.mu.Unlock()
	if told {
		p.client.push()
	}
}

// rest leaves a resource alone for a while when looking means a transfer over
// the network.
func (w *watched) rest() {
	if w.watch.Remote() {
		w.rests = time.Now().Add(remoteRest)
	}
}

// isOpen reports whether the client knows of a subscription.
func (w *watched) isOpen() bool {
	return slices.ContainsFunc(w.subs, func(sub *subscription) bool { return sub.open })
}

// tell queues a notification for each stream, and one for the session, in the name of its
// oldest subscription. It reports whether there is any.
func (p *subscriptions) tell(w *watched) (told bool) {
	var eldest *subscription
	for _, sub := range w.subs {
		switch {
		case !sub.open:
		case sub.tell != nil:
			told = sub.tell() || told
		case eldest == nil:
			eldest = sub
		}
	}
	if eldest != nil && p.session.at(phaseReady) {
		p.tellSession(w, eldest)
		told = true
	}
	return told
}

func (p *subscriptions) tellSession(w *watched, sub *subscription) {
	var b rawjson.Builder
	b.Object().Name("uri").String(w.uri).Name("subscriptionId").String(sub.id).
		Name("subscription").Object().Name("id").String(sub.id).Name("uri").String(w.uri).End().End()
	p.client.queue(jsonrpc.AppendNotification(nil, "notifications/resources/updated", b.Bytes()))
}
