package server

import (
	"sync/atomic"

	"mcp-bash/pkg/wire/jsonrpc"
)

// A client is the other end as the rest of the server sees it: lines are sent to
// it, and each is recorded in a debug run.
type client struct {
	writer *jsonrpc.Writer
	record *payloadLog
	missed atomic.Int64 // messages it did not get, as it does not read (P-1805)
}

// send sends a line that belongs to no request.
func (c *client) send(line []byte) {
	c.record.record("rpc", "-", "ok", line)
	c.writer.Send(line)
}

// queue is send for whoever calls [client.push] later.
func (c *client) queue(line []byte) {
	c.record.record("rpc", "-", "ok", line)
	c.writer.Queue(line)
}

// push has what is queued written, without waiting for it.
func (c *client) push() { c.writer.Push() }

// notify sends a notification.
func (c *client) notify(method string, params []byte) {
	c.send(jsonrpc.AppendNotification(nil, method, params))
}

// full reports whether the client leaves so much unread that nothing more should
// be sent (P-1803).
func (c *client) full() bool { return c.writer.Full() }
