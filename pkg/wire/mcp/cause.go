package mcp

// A Cause is precisely why a request had no success, for the operator's records. The list is closed: readers of records
// may rely on it.
type Cause string

// The causes.
const (
	CauseNone Cause = ""

	// The request was wrong.
	CauseInvalid     Cause = "invalid_request"   // its form, its parameters
	CauseArguments   Cause = "invalid_arguments" // they do not match the schema
	CauseNotFound    Cause = "not_found"         // no such method, tool, resource or prompt
	CauseCapability  Cause = "client_capability" // the client lacks one that the tool needs
	CauseCancelled   Cause = "cancelled"         // by the client, or the client is gone
	CauseUnavailable Cause = "shutting_down"     // the server ends

	// The caller may not do that.
	CauseCredential Cause = "credential"   // none, or not accepted
	CauseNotListed  Cause = "not_listed"   // the operator's list of tools lacks the tool. Nothing else was checked
	CausePolicy     Cause = "policy"       // policy.sh, or a rule about files of the project
	CauseScope      Cause = "scope"        // the caller's token lacks a scope or right
	CauseLevel      Cause = "level"        // the security level of the server
	CauseInsecure   Cause = "insecure"     // other users can change what would run
	CauseOrigin     Cause = "origin"       // the Host or Origin of a web page
	CauseConfined   Cause = "unconfinable" // a declaration that the kernel cannot enforce
	CauseLocked     Cause = "locked"       // it differs from the lock of the project

	// A limit.
	CauseBusy   Cause = "busy"             // too many requests wait
	CauseRate   Cause = "rate"             // too many requests of one caller
	CauseAnswer Cause = "answer_too_large" // a result above the limit
	CauseOutput Cause = "output_too_large" // of a script
	CauseTime   Cause = "timeout"

	// The tool failed.
	CauseTool   Cause = "tool_error"    // its result or its own error
	CauseStatus Cause = "exit_status"   // it ended with another status than 0
	CauseSignal Cause = "signal"        // a signal ended it
	CauseSchema Cause = "output_schema" // its result does not match its outputSchema
	CauseStart  Cause = "start"         // it could not be started

	// The server failed.
	CauseInternal Cause = "internal"
	CauseRecord   Cause = "record" // the event could not be recorded, and records are required
)

// Causes returns all causes but CauseNone.
func Causes() []Cause { return causes[:] }

var causes = [...]Cause{
	CauseInvalid, CauseArguments, CauseNotFound, CauseCapability, CauseCancelled,
	CauseUnavailable, CauseCredential, CauseNotListed, CausePolicy, CauseScope, CauseLevel, CauseInsecure,
	CauseOrigin, CauseConfined, CauseLocked, CauseBusy, CauseRate, CauseAnswer, CauseOutput, CauseTime, CauseTool,
	CauseStatus, CauseSignal, CauseSchema, CauseStart, CauseInternal, CauseRecord,
}
