package internet

import (
	"io"
	"net"
	"net/http"
)

// one is a listener for one connection.
type one struct {
	net.Conn
	once chan struct{}
}

func (o *one) Accept() (net.Conn, error) {
	select {
	case <-o.once:
		return nil, io.EOF
	default:
		close(o.once)
		return o.Conn, nil
	}
}
func (o *one) Addr() net.Addr { return o.LocalAddr() }
func (o *one) Close() error   { return nil } // the connection goes on

// HTTP serves HTTP/1.1 on the connections of a server.
func HTTP(h http.Handler) func(net.Conn) {
	return func(conn net.Conn) {
		gone := make(chan struct{})
		s := http.Server{Handler: h, ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(gone)
			}
		}}
		s.Serve(&one{conn, make(chan struct{})})
		<-gone
	}
}
