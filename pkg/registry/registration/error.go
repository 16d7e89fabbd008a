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

// An Error is why a tool is not registered, taken out or found.
type Error struct {
	Type    string // "DuplicateTool", "ToolNotFound", "InvalidRegistration", "PermissionDenied"
	ID      string // of the tool, "" when it is not known
	Message string
	Details []string // each fault of a registration by itself

	kind error // one of the errors above, as Type names it
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the kind of the error, one of those above.
func (e *Error) Unwrap() error { return e.kind }

// refuse returns an error of one of the types above about a tool.
func refuse(kind error, id, format string, args ...any) *Error {
	return &Error{kind: kind, Type: kind.Error(), ID: id, Message: fmt.Sprintf(format, args...)}
}
