package console

import (
	"fmt"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
)

// A CallLog writes a line for each request of a client. It is for servers with many clients (AUD-7).
type CallLog struct{ Console *Console }

// Emit implements [events.Sink].
func (l CallLog) Emit(e *events.Event) error {
	if e.Target.Method == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString(e.Target.Method)
	if e.Target.Name != "" {
		fmt.Fprintf(&b, " %s", cli.Line(cli.Cut(e.Target.Name, maxName)))
	}
	if who := e.Caller(); who != "" {
		fmt.Fprintf(&b, " by %s", cli.Line(cli.Cut(who, maxName)))
	}
	if e.Source.Address != "" {
		fmt.Fprintf(&b, " from %s", e.Source.Address)
	}
	fmt.Fprintf(&b, ": %s", e.Outcome())
	switch {
	case e.Cause == mcp.CauseStatus:
		fmt.Fprintf(&b, " (exit %d)", e.Work.Status)
	case e.Cause != mcp.CauseNone:
		fmt.Fprintf(&b, " (%s)", strings.ReplaceAll(string(e.Cause), "_", " "))
	}
	if e.Work.Took > 0 {
		fmt.Fprintf(&b, ", %s", e.Work.Took.Round(100*time.Microsecond))
	}
	fmt.Fprintf(&b, " [%s]", e.ID)
	l.Console.Log(mcp.Info, "mcp.calls", b.String())
	return nil
}

// Ready implements [events.Sink].
func (CallLog) Ready() error { return nil }

// maxName is the width of a name in a line, in columns.
const maxName = 200
