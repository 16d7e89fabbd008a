package subscribe

import (
	"slices"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/internal/session"
)

const (
	pollReads  = 4                // at once (RES-144)
	remoteRest = 30 * time.Second // between two reads over the network (RES-149)
)

// poll checks the watched resources in rounds, until no resource is watched. An unchanged file costs one
// look at its directory entry. Everything else is read. A slow read delays only resources that
// wait for one of the reads, and later rounds skip it until it is done.
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
		if w.session.Full() { // a change stays one until the client can be notified
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

// checked ends a check, and notifies the client of a change (RES-145). It holds the lock, so that
// no notification follows an unsubscribe.
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
