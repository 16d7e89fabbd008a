package registration

import "errors"

// What a registration can come to nothing for. An [Error]
// unwraps to one of them.
var (
	ErrDuplicateTool       = errors.New("DuplicateTool")
	ErrToolNotFound        = errors.New("ToolNotFound")
	ErrInvalidRegistration = errors.New("InvalidRegistration")
	ErrPermissionDenied    = errors.New("PermissionDenied")
)

// An Error says why a registration, or a question about one, came to nothing.
type Error struct {
	Type    string // of R-206: "DuplicateTool"
	ID      string // of the tool, "" when it is not known
	Message string
	Details []string // each fault of a registration by itself
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the error that the type stands for.
func (e *Error) Unwrap() error {
	for _, err := range []error{ErrDuplicateTool, ErrToolNotFound, ErrInvalidRegistration, ErrPermissionDenied} {
		if err.Error() == e.Type {
			return err
		}
	}
	return nil
}

func newError(kind error, id, message string, details ...string) *Error {
	return &Error{Type: kind.Error(), ID: id, Message: message, Details: details}
}
