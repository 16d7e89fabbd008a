package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// RefreshOptions are the options of a refresh.
type RefreshOptions struct {
	// Filter limits the scan to a directory. The default is
	// MCPBASH_REGISTRY_REFRESH_PATH.
	Filter string
	// Strict treats every warning as a failure.
	Strict bool
}

// A Report is the result of a refresh.
type Report struct {
	Kinds   []KindReport // in the order of [kinds.All]
	Minimal bool         // minimal mode: nothing was done
	Warned  bool         // Strict is set and a warning was logged
}

// A KindReport is the part of a [Report] about one kind.
type KindReport struct {
	Kind  *kinds.Kind
	Count int   // of the items in the kind's file
	Err   error // a [*Failure], or nil

	Dropped []string // the reason for each declared entry that was left out
}

// Refresh checks all kinds, also before the end of the TTL and in static mode. If a kind
// fails, Refresh continues with the others. The error is the context's error.
func (c *Catalog) Refresh(ctx context.Context, o RefreshOptions) (*Report, error) {
	report := &Report{Minimal: c.p.Minimal}
	filter := cmp.Or(o.Filter, c.p.Discovery.SubPath)
	bounds := map[*kinds.Kind]string(nil)
	if !report.Minimal {
		bounds = c.bounds(filter)
	}
	c.store.sweep(ctx)
	r := request{asked: c.checks.Load(), force: true}
	for _, s := range c.states {
		k := KindReport{Kind: s.kind}
		var list *List
		if !report.Minimal {
			r.within = bounds[s.kind]
			if list, k.Err = c.refresh(ctx, s, r); ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			k.Dropped = s.last.Load().dropped
			var locked *atomicfile.LockedError
			r.locked = r.locked || errors.As(k.Err, &locked)
		}
		if list != nil {
			k.Count = len(list.Items)
		} else if file, err := c.store.read(s.kind); err == nil {
			k.Count = len(file.items)
		}
		report.Kinds = append(report.Kinds, k)
	}
	report.Warned = o.Strict && c.warnings.Load() > 0
	return report, nil
}

func (c *Catalog) refresh(ctx context.Context, s *state, r request) (*List, error) {
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	return c.renew(ctx, s, r)
}

// Failed reports whether a kind failed or is incomplete, or a warning counts as a failure
//
func (r *Report) Failed() bool {
	return r.Warned || slices.ContainsFunc(r.Kinds, func(k KindReport) bool { return k.Err != nil || k.Dropped != nil })
}

// Fatal reports whether a kind failed because of the lock or the registry directory
//
func (r *Report) Fatal() bool {
	return slices.ContainsFunc(r.Kinds, func(k KindReport) bool {
		var f *Failure
		return errors.As(k.Err, &f) && f.Fatal
	})
}

// AppendJSON appends the report in the form of the command's output, without a final
// newline.
func (r *Report) AppendJSON(dst []byte) []byte {
	dst = append(dst, "{\n"...)
	for _, k := range r.Kinds {
		status, reason := "ok", ""
		switch {
		case r.Minimal:
			status, reason = "skipped", "minimal mode"
		case k.Err != nil:
			status, reason = "failed", k.Err.Error()
		case k.Dropped != nil:
			status, reason = "degraded", someOf(k.Dropped)
		}
		b := rawjson.Over(appendKey(dst, k.Kind.Key))
		b.Object().Name("status").String(status).Name("count").Int(k.Count).Name("error")
		if reason == "" {
			b.Null()
		} else {
			b.String(reason)
		}
		dst = append(b.End().Bytes(), ",\n"...)
	}
	mode := "full"
	if r.Minimal {
		mode = "minimal"
	}
	dst = append(appendKey(dst, "notificationsSent"), "false,\n"...) // a command never notifies
	return append(rawjson.AppendString(appendKey(dst, "mode"), mode), "\n}"...)
}

func appendKey(dst []byte, key string) []byte {
	return append(rawjson.AppendString(append(dst, "  "...), key), ": "...)
}

// someOf returns the first three faults of a list, and the number of the others.
func someOf(faults []string) string {
	const few = 3
	if more := len(faults) - few; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(faults[:few], "; "), more)
	}
	return strings.Join(faults, "; ")
}
