package cli

// Exit codes (CLI-102). The registration errors of R-206 have their
// own, in pkg/registry.
const (
	ExitOK     = 0
	ExitFailed = 1 // the operation failed, or a check found errors
	ExitUsage  = 2 // wrong usage, or nothing to work on where that is an error of use
	ExitPolicy = 3 // refused, or something that is needed from outside is missing
	ExitSignal = 128
)
