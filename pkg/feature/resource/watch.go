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

// A Watch detects changes of one resource: of its content, its type, or its error (RES-145). Only
// Reconsider may be called concurrently with other methods.
type Watch struct {
	r       *Resources
	request Request
	target  *target
	stale   atomic.Bool       // resolve the URI again
	print   [sha256.Size]byte // hash of the last result
	stamp   provider.Stamp    // of the file when it was read
	stamped bool              // stamp is valid
}

// Watch reads a resource for the first time. The error is as for [Resources.Read].
func (r *Resources) Watch(ctx context.Context, req Request) (*Watch, error) {
	t, err := r.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	w := &Watch{r: r, request: Request{Name: req.Name, URI: t.uri}, target: t}
	if err := w.read(ctx, &req); err != nil {
		return nil, err
	}
	return w, nil
}

// URI returns the watched URI.
func (w *Watch) URI() string { return w.request.URI }

// Remote reports whether each read uses the network (RES-149).
func (w *Watch) Remote() bool { return w.target.isRemote() }

// Reconsider makes the next read resolve the URI again, because the registry has changed. It is
// safe for concurrent use.
func (w *Watch) Reconsider() { w.stale.Store(true) }

// Still reports whether the content is certainly unchanged. If it returns false, the caller calls Changed.
func (w *Watch) Still() bool {
	if !w.stamped || w.stale.Load() {
		return false
	}
	stamp, ok := w.currentStamp()
	return ok && stamp == w.stamp
}

// Changed reads the resource and reports whether the result differs from the last one.
func (w *Watch) Changed(ctx context.Context) bool {
	before := w.print
	err := w.read(ctx, &Request{})
	var e *mcp.Error
	if err != nil && (!errors.As(err, &e) || ctx.Err() != nil) {
		return false // cancelled
	}
	return w.print != before
}

// read reads the resource and stores the hash of the result. It takes the stamp first, so the next
// read detects a change in between.
func (w *Watch) read(ctx context.Context, req *Request) error {
	var c *Content
	err := w.resolveIfStale(ctx)
	stamp, stamped := w.currentStamp()
	if err == nil {
		c, err = w.r.read(ctx, w.target, req)
	}
	h := sha256.New()
	var e *mcp.Error
	switch {
	case err == nil:
		fmt.Fprintf(h, "%q %q\n", c.mimeType, c.meta)
		h.Write(c.data)
	case errors.As(err, &e) && ctx.Err() == nil:
		fmt.Fprintf(h, "%d %q", e.Code, e.Message)
		stamped = false // the cause may disappear without a change of the file
	default:
		return err
	}
	h.Sum(w.print[:0])
	w.stamp, w.stamped = stamp, stamped
	return err
}

// resolveIfStale resolves the URI again if the registry has changed.
func (w *Watch) resolveIfStale(ctx context.Context) error {
	if !w.stale.CompareAndSwap(true, false) {
		return nil
	}
	t, err := w.r.resolve(ctx, w.request)
	if errors.Is(err, errDifferent) { // the name now belongs to another resource: watch the URI
		t, err = w.r.resolve(ctx, Request{URI: w.request.URI})
	}
	if err != nil {
		w.stale.Store(true)
		return err
	}
	w.target = t
	return nil
}

func (w *Watch) currentStamp() (provider.Stamp, bool) {
	if w.r.Scripts.Find(w.target.provider) != (code.File{}) {
		return provider.Stamp{}, false
	}
	s, ok := w.r.builtin(w.target.provider).(provider.Stamper)
	if !ok {
		return provider.Stamp{}, false
	}
	return s.Stamp(w.target.uri)
}
