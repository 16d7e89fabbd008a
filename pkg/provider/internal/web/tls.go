package web

import (
	"crypto/tls"
	"errors"
	"net/http/httptrace"
	"sync/atomic"
)

// A tlsError is a failed TLS handshake. crypto/tls has no types for most causes.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

type tlsWatch struct{ failed atomic.Pointer[tlsError] }

// of returns an error as a [*tlsError] if the TLS handshake caused it.
func (w *tlsWatch) of(err error) error {
	if failed := w.failed.Load(); failed != nil && errors.Is(err, failed.err) {
		return failed
	}
	return err
}

func (w *tlsWatch) addTo(trace *httptrace.ClientTrace) {
	trace.TLSHandshakeDone = func(_ tls.ConnectionState, err error) {
		if err != nil {
			w.failed.Store(&tlsError{err})
		}
	}
}
