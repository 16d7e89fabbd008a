package stdio

import (
	"strconv"
	"time"

	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/protocol"
)

// watchIdle ends the connection after a long time without messages (protocol P-1000). A client
// that waits for the server is not idle.
func (c *Connection) watchIdle() {
	limit := c.Project.Sessions.Idle
	if limit <= 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-c.Context.Done():
			return
		case <-timer.C:
		}
		if c.client.InUse() {
			c.activity.Store(int64(clock.Now())) // the time begins when the last request ends
		}
		quiet := clock.Now() - time.Duration(c.activity.Load())
		if quiet >= limit {
			secs := strconv.Itoa(int(limit / time.Second))
			c.client.Warn("Server idle timeout (" + secs + "s) - no client activity")
			c.End(protocol.Ending{Kill: true,
				Reason: "mcp-bash: idle timeout after " + secs + "s with no client activity; exiting"})
			return
		}
		timer.Reset(min(limit-quiet, max(limit/4, 100*time.Millisecond))) // requests may end meanwhile
	}
}
