package trail

import (
	"fmt"
	"time"

	"mcp-bash/pkg/events"
)

// A Kind is a kind of [Fault].
type Kind string

// The kinds of faults.
const (
	Torn     Kind = "torn"     // the last line does not end
	Foreign  Kind = "foreign"  // a line that no server wrote
	Changed  Kind = "changed"  // the line before was changed, or lines were removed, added or moved here
	Missing  Kind = "missing"  // the record begins later than its first line
	Unsealed Kind = "unsealed" // no seal for too long: lines may be missing at the end of a file or before a gap
	Backward Kind = "backward" // the time of a line is before that of an earlier one
	Empty    Kind = "empty"    // no line at all
	Seal     Kind = "seal"     // a seal is missing, late or not made with the key: see Seals
	Head     Kind = "head"     // the hash that was kept elsewhere is not in the record
)

// A Fault is a place where a record is not as a server wrote it.
type Fault struct {
	Kind Kind
	Line int // from 1; 0: of the whole record
	Text string
}

// A Verifier checks the lines of a record, file after file.
type Verifier struct {
	head events.Hash
	seq  int64 // of the next line
	any  bool
	time time.Time
}

// allowed is the longest time between two lines: a seal comes each minute, also if nothing happens. It leaves time for
// a machine that is busy or asleep for a moment.
const allowed = 3 * time.Minute

// maxBack is how far a clock may be set back between two lines.
const maxBack = 5 * time.Second

// Add checks the next line. The result is nil if it is right.
func (v *Verifier) Add(e *Entry) *Fault {
	switch e.Broken {
	case nil:
	case ErrOther:
		return nil
	case ErrTorn:
		return &Fault{Torn, e.Line, ErrTorn.Error()}
	default:
		return &Fault{Foreign, e.Line, e.Broken.Error()}
	}
	fault := v.check(e)
	v.head, v.seq, v.any = e.Hash, e.Link.Seq+1, true
	if e.Time.After(v.time) {
		v.time = e.Time
	}
	return fault
}

func (v *Verifier) check(e *Entry) *Fault {
	switch {
	case !v.any && e.Link.Seq > 0:
		return &Fault{Missing, e.Line, fmt.Sprintf("the record begins with line number %d: %d lines before it are in "+
			"another file, or were removed", e.Link.Seq, e.Link.Seq)}
	case !v.any:
		return nil
	case e.Link.Seq != v.seq:
		return &Fault{Changed, e.Line, fmt.Sprintf("number %d follows number %d", e.Link.Seq, v.seq-1)}
	case e.Link.Prev != v.head:
		return &Fault{Changed, e.Line, "the hash is not that of the line before"}
	case e.Time.Before(v.time.Add(-maxBack)):
		return &Fault{Backward, e.Line, fmt.Sprintf("its time is %s before that of an earlier line", v.time.Sub(e.Time))}
	case e.Time.Sub(v.time) > allowed && e.Type != events.Start && e.Type != events.Recovered:
		return &Fault{Unsealed, e.Line, fmt.Sprintf("nothing was written for %s before it, not even a seal",
			e.Time.Sub(v.time).Round(time.Second))}
	}
	return nil
}

// Head returns the hash of the last line.
func (v *Verifier) Head() events.Hash { return v.head }
