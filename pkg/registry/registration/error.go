package registration

import (
	"errors"
	"fmt"
)

// The types of errors. An [Error] unwraps to one of them.
var (
	ErrDuplicateTool       = errors.New("DuplicateTool")
	ErrToolNotFound        = errors.New("ToolNotFound")
	ErrInvalidRegistration = errors.New("InvalidRegistration")
	ErrPermissionDenied    = errors.New("PermissionDenied")
)

// An Error is the reason why a tool is not registered, removed or found.
type Error struct {
	Type    string // "DuplicateTool", "ToolNotFound", "InvalidRegistration", "PermissionDenied"
	ID      string // of the tool, or "" if unknown
	Message string
	Details []string // all faults of a registration

	kind error // one of the errors above, as Type names it
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the type of the error as one of the errors above.
func (e *Error) Unwrap() error { return e.kind }

// refuse returns an error of one of the types above about a tool.
func refuse(kind error, id, format string, args ...any) *Error {
	return &Error{kind: kind, Type: kind.Error(), ID: id, Message: fmt.Sprintf(format, args...)}
}
