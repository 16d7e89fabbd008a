//go:build !linux

package health

import "errors"

func findServer(ParseFunc) (*running, error) {
	return nil, errors.New("only in a container of Linux can the server be found")
}
