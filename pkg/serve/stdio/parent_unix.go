//go:build unix

package stdio

import (
	"fmt"
	"os"
	"time"

	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/wire/mcp"
)

// watchParent ends the connection when the process that started this one has ended (P-1002).
func (c *Connection) watchParent() {
	pace := c.Project.Sessions.OrphanCheck
	if pace <= 0 || c.Parent == 1 {
		return
	}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for os.Getppid() == c.Parent {
		select {
		case <-c.Context.Done():
			return
		case <-ticker.C:
		}
	}
	c.client.Warn(fmt.Sprintf("Process orphaned - original parent PID %d no longer exists", c.Parent))
	e := protocol.Ending{Kill: true}
	if c.Project.Logging.Level == mcp.Debug {
		e.Reason = fmt.Sprintf("mcp-bash: process orphaned (original parent PID %d no longer exists); exiting", c.Parent)
	}
	c.End(e)
}
