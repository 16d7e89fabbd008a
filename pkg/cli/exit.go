package cli

// Exit codes (CLI-102). Errors of registration have other codes.
const (
	ExitOK     = 0
	ExitFailed = 1 // the operation failed, or a check found errors
	ExitUsage  = 2 // wrong usage
	ExitPolicy = 3 // denied, or a dependency is missing
	ExitSignal = 128
)
