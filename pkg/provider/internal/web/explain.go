package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"

	"mcp-bash/pkg/provider/hosts"
)

// A ProtocolError is a fault of a server, a proxy or a setting.
type ProtocolError string

func (e ProtocolError) Error() string { return string(e) }

// unknownFault is the result of [Explain] for unknown errors.
const unknownFault = "the connection failed"

// Explain returns the reason for a failed request in a few words, on one line, without addresses and URIs.
func Explain(err error) string {
	text, _ := explain(err)
	return text
}

// explain returns the reason, and whether the kind of the error is known.
func explain(err error) (text string, known bool) {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // the text of a url.Error contains the URI
	}
	var protocol ProtocolError
	var errno syscall.Errno
	var notTLS tls.RecordHeaderError
	var alert *net.OpError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	var ofTLS *tlsError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timed out", true
	case errors.Is(err, context.Canceled):
		return "cancelled", true
	case errors.Is(err, hosts.ErrNoAddress):
		return hosts.ErrNoAddress.Error(), true
	case errors.As(err, &protocol):
		return string(protocol), true
	case errors.As(err, &certificate):
		return certificateFault(certificate.Err), true
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS", true
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		return alert.Error(), true // a TLS alert
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection ended too early", true
	case errors.As(err, &errno):
		return errno.Error(), true
	case errors.As(err, &network) && network.Timeout():
		return "timed out", true
	case errors.As(err, &ofTLS):
		return ofTLS.Error(), true
	}
	return unknownFault, false
}

func certificateFault(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an unknown authority"
	case errors.As(err, &host):
		return "the server's certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired or is not yet valid"
	}
	return "the server's certificate is not valid"
}
