package tool

import (
	"errors"
	"time"

	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// recordRefusal gives the record the cause of a result without a script.
func (c *call) recordRefusal(r *Result) {
	if e := c.request.Event; e != nil {
		e.Draft.Cause = r.cause
	}
}

// recordEnd gives the record the end of the script, and why the call failed.
func (c *call) recordEnd(res *script.Result, r *Result, err error) {
	if c.request.Event == nil {
		return
	}
	w := &c.request.Event.Draft
	w.Processor, w.Peak = res.Processor, res.Peak
	w.Ran, w.Ended, w.Status, w.Signal = time.Since(c.clock.start), true, res.Status, res.Signal
	var timeout *timeoutError
	var own *mcp.Error
	switch {
	case errors.As(err, &own) && own.Cause == mcp.CauseTool:
		w.Cause = own.Cause
	case errors.Is(res.Cause, script.ErrStdoutLimit), errors.Is(res.Cause, script.ErrStderrLimit):
		w.Cause = mcp.CauseOutput
	case errors.As(res.Cause, &timeout):
		w.Cause = mcp.CauseTime
	case c.cancelled(res.Cause) != nil:
		w.Cause = mcp.CauseCancelled
	case res.Signal != 0:
		w.Cause = mcp.CauseSignal
	case res.Status != 0:
		w.Cause = mcp.CauseStatus
	case r != nil && r.cause != mcp.CauseNone:
		w.Cause = r.cause
	case err != nil || r.IsError || r.Failure != nil:
		w.Cause = mcp.CauseTool
	}
}
