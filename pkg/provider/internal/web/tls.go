package web

import (
	"crypto/tls"
	"errors"
	"net/http/httptrace"
	"sync/atomic"
)

// A tlsError is the failure of a TLS handshake, for whose causes crypto/tls has no types.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// A tlsWatch notes the failure of a TLS handshake.
type tlsWatch struct{ failed atomic.Pointer[tlsError] }

// of returns an error of a request as a [*tlsError] where its cause is the TLS handshake.
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
