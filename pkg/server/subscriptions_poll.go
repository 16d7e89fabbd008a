package server

import (
	"time"

	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/rawjson"
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
	if len(p.byURI) == 0 || !p.session.at(phaseReady) {
		p.polling = false
		return nil, true
	}
	now := time.Now()
	for _, w := range p.byURI {
		if !w.busy && !now.Before(w.rests) && w.eldest() != nil {
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

// eldest is the oldest subscription that the client knows of, nil for none.
func (w *watched) eldest() *subscription {
	for _, sub := range w.subs {
		if sub.open {
			return sub
		}
	}
	return nil
}

// tell queues one notification, in the name of the oldest subscription.
func (p *subscriptions) tell(w *watched) bool {
	sub := w.eldest()
	if sub == nil || !p.session.at(phaseReady) {
		return false
	}
	var b rawjson.Builder
	b.Object().Name("uri").String(w.uri).Name("subscriptionId").String(sub.id).
		Name("subscription").Object().Name("id").String(sub.id).Name("uri").String(w.uri).End().End()
	p.client.queue(jsonrpc.AppendNotification(nil, "notifications/resources/updated", b.Bytes()))
	return true
}
