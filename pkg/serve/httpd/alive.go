package httpd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
)

// Alive asks a server on this machine whether it is alive, and returns why not. addr is an address of [Listen], without
// the port 0. It does not check the certificate, which has the public name of the server (CLI-1206).
func Alive(ctx context.Context, addr string, overTLS bool) error {
	network, address, err := reach(addr)
	if err != nil {
		return err
	}
	scheme, host := "http", address
	if network == "unix" {
		host = "localhost"
	} else if overTLS {
		scheme = "https"
	}
	transport := &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, urlOf(scheme, host, "/healthz"), nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(r)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	return nil
}

// reach returns where programs of this machine reach a server with an address of [Listen], for [net.Dial].
func reach(addr string) (network, address string, err error) {
	network, address, err = parseAddr(addr)
	if err != nil || network == "unix" {
		return network, address, err
	}
	host, port, _ := net.SplitHostPort(address)
	switch ip := net.ParseIP(host); {
	case ip == nil || !ip.IsUnspecified():
	case ip.To4() != nil:
		host = "127.0.0.1"
	default:
		host = "localhost"
	}
	return network, net.JoinHostPort(host, port), nil
}
