// Package source reads the lines of audit records: from files that grow and rotate ([Files]), or from a pipe ([Pipe]).
//
// A source never blocks a server. It counts the lines that it cannot read any more ([Counts]).
package source

import "mcp-bash/pkg/events/trail"

// Counts are the lines that a source could not return.
type Counts struct {
	Skipped int64 // not lines of a record: another text, or too long
	Dropped int64 // removed or overtaken before they were read
}

// A Budget bounds the lines that one read returns.
type Budget struct {
	Lines int
	Bytes int64
}

// spend takes an entry off the budget. The last one may exceed it.
func (b *Budget) spend(e *trail.Entry) {
	b.Lines--
	b.Bytes -= e.Size
}

// Empty reports whether nothing is left.
func (b *Budget) Empty() bool { return b.Lines <= 0 || b.Bytes <= 0 }

// A Report receives messages for the operator.
type Report = func(format string, args ...any)
