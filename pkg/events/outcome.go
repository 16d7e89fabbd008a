package events

import "mcp-bash/pkg/wire/mcp"

// OutcomeOf returns the outcome of a request that ended for a cause.
func OutcomeOf(c mcp.Cause) Outcome {
	switch c {
	case mcp.CauseNone:
		return Success
	case mcp.CauseCredential, mcp.CauseNotListed, mcp.CausePolicy, mcp.CauseScope, mcp.CauseLevel, mcp.CauseInsecure,
		mcp.CauseOrigin, mcp.CauseConfined:
		return Denied
	case mcp.CauseInternal, mcp.CauseRecord, mcp.CauseStart:
		return Error
	case mcp.CauseTool, mcp.CauseStatus, mcp.CauseSignal, mcp.CauseSchema, mcp.CauseKernel, mcp.CauseTime,
		mcp.CauseOutput, mcp.CauseAnswer:
		return ApplicationError
	}
	return Failure
}
