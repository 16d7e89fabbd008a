package calls

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A Worked error is the error of a request that did some work, for the record.
type Worked struct {
	Err  error
	Work *events.Work
}

func (w *Worked) Error() string { return w.Err.Error() }

// Unwrap returns the error for the client.
func (w *Worked) Unwrap() error { return w.Err }

// ErrUnrecorded is the error for a request that must be recorded and cannot be.
var ErrUnrecorded = mcp.Errorf(mcp.CodeInternal,
	"The server cannot record this request, and does nothing without a record").Because(mcp.CauseRecord)

// record writes the event of a request, with an answer of some bytes. The result is the error that the client gets
// instead, if the event must be recorded and cannot be.
func (r *Request) record(a *Answer, err error, bytes int) *mcp.Error {
	e := r.Event
	if e == nil {
		return nil
	}
	var worked *Worked
	switch {
	case a != nil && a.Work != nil:
		e.Work = *a.Work
	case errors.As(err, &worked) && worked.Work != nil:
		e.Work = *worked.Work
	}
	e.Work.Arguments = r.Params.Get(mcp.ParamArguments)
	e.Interim = a != nil && (a.Interim || a.Task)
	e.Cause = e.Work.Cause
	if err != nil {
		failure := asError(err)
		e.Cause, e.Work.Code = cmp.Or(e.Cause, failure.Why()), r.Protocol.Fault(failure).Code
	}
	if r.isClosed() {
		e.Cause = mcp.CauseCancelled
	}
	e.Work.Took, e.Work.Bytes = time.Since(e.Began), bytes
	if !r.started.IsZero() {
		e.Work.Queued = r.started.Sub(e.Began)
	}
	if r.requests.Events.Emit(e) != nil {
		return ErrUnrecorded
	}
	return nil
}

// extra returns the members that the protocol adds to a result. If requests are recorded, the client can name its
// request (AUD-6).
func (r *Request) extra(a *Answer) mcp.Extra {
	e := r.Protocol.Extra(r, a)
	if r.requests.Recorded && r.Event != nil {
		id := rawjson.Member{Name: "mcpbash/requestId", Value: rawjson.Quote(r.Event.ID.String())}
		e.Meta = append(slices.Clip(e.Meta), id)
	}
	return e
}

func (r *Request) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}
