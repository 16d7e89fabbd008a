package resource

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/wire/mcp"
)

// A Watch follows one resource for changes of what a read would come to: its
// content, its type, or its error (RES-145). Its methods must not be
// called at the same time.
type Watch struct {
	r       *Resources
	request Request
	target  *target
	stale   atomic.Bool       // the target may be another
	print   [sha256.Size]byte // of the last result
	stamp   provider.Stamp    // of the file it came from
	stamped bool              // stamp says something
}

// Watch reads a resource for the first time. The error is that of
// [Resources.Read].
func (r *Resources) Watch(ctx context.Context, req Request) (*Watch, error) {
	t, err := r.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	w := &Watch{r: r, request: Request{Name: req.Name, URI: t.uri}, target: t}
	if err := w.look(ctx, req.Bounded); err != nil {
		return nil, err
	}
	return w, nil
}

// URI is the URI that is read.
func (w *Watch) URI() string { return w.request.URI }

// Remote reports whether every look goes over the network (RES-149).
func (w *Watch) Remote() bool { return w.target.provider == "https" || w.target.provider == "git" }

// Reconsider has the next look find out anew what the URI means, for the
// registry has changed. It may be called at any time.
func (w *Watch) Reconsider() { w.stale.Store(true) }

// Still reports that the content is certainly what it was, as far as a glance
// can tell; otherwise it takes a look.
func (w *Watch) Still() bool {
	if !w.stamped || w.stale.Load() {
		return false
	}
	stamp, ok := w.glance()
	return ok && stamp == w.stamp
}

// Changed looks again and reports whether a read comes to something else.
func (w *Watch) Changed(ctx context.Context) bool {
	before := w.print
	err := w.look(ctx, false)
	var e *mcp.Error
	if err != nil && (!errors.As(err, &e) || ctx.Err() != nil) {
		return false // given up, not read
	}
	return w.print != before
}

// look reads and remembers the result. The stamp is taken first: a change that
// comes between is then seen the next time.
func (w *Watch) look(ctx context.Context, bounded bool) error {
	var c *Content
	err := w.reconsider(ctx)
	stamp, stamped := w.glance()
	if err == nil {
		c, err = w.r.read(ctx, w.target, bounded)
	}
	h := sha256.New()
	var e *mcp.Error
	switch {
	case err == nil:
		fmt.Fprintf(h, "%q %q\n", c.mimeType, c.meta)
		h.Write(c.data)
	case errors.As(err, &e) && ctx.Err() == nil:
		fmt.Fprintf(h, "%d %q", e.Code, e.Message)
		stamped = false // what stands in the way may go without touching the file
	default:
		return err
	}
	h.Sum(w.print[:0])
	w.stamp, w.stamped = stamp, stamped
	return err
}

// reconsider resolves the URI again where that is due.
func (w *Watch) reconsider(ctx context.Context) error {
	if !w.stale.CompareAndSwap(true, false) {
		return nil
	}
	t, err := w.r.resolve(ctx, w.request)
	if errors.Is(err, errDifferent) { // the name is that of another resource now: the URI is what is watched
		t, err = w.r.resolve(ctx, Request{URI: w.request.URI})
	}
	if err != nil {
		w.stale.Store(true)
		return err
	}
	w.target = t
	return nil
}

// glance returns the stamp of the file behind the resource, where there is one.
func (w *Watch) glance() (provider.Stamp, bool) {
	if w.r.scriptOf(w.target.provider) != (code.File{}) {
		return provider.Stamp{}, false
	}
	s, ok := w.r.builtin(w.target.provider).(provider.Stamper)
	if !ok {
		return provider.Stamp{}, false
	}
	return s.Stamp(w.target.uri)
}
