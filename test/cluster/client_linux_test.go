//go:build cluster

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// handshake calls the tool in a session of the handshake protocol.
func (c *client) handshake(ctx context.Context, id string) error {
	r, content, err := c.post(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	if err != nil {
		return err
	}
	session := r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != http.StatusOK || session == "" {
		return fmt.Errorf("initialize: %s %s", r.Status, content)
	}
	headers := map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
	if _, _, err := c.post(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers); err != nil {
		return err
	}
	r, content, err = c.post(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"record",`+
		`"arguments":{"id":"`+id+`"}}}`, headers)
	if err != nil {
		return err
	}
	return checkAnswer(r, content, id)
}

// isNotConnected reports whether a request failed before a connection was made.
func isNotConnected(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}
