package audit

import (
	"io"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

// A Verdict is the result of checking a record.
type Verdict struct {
	File  string       // of the first fault
	Fault *trail.Fault // the first one; nil: everything is right
	First int64        // the number of its first line; more than 0: lines before it are not there
	Lines int
	Head  events.Hash // of the last line
}

// Verify checks a record. With a hash that was kept elsewhere, one of its lines must have it. seals continues with each
// record of a server; nil means that there is no key.
func (r *Record) Verify(stdin io.Reader, kept string, seals *trail.Seals) (Verdict, error) {
	var v trail.Verifier
	var out Verdict
	found := kept == ""
	err := r.Read(stdin, func(file string, e *trail.Entry) error {
		if e.Broken == trail.ErrOther {
			return nil
		}
		if out.Lines++; out.Lines == 1 {
			out.First = e.Link.Seq
		}
		fault := v.Add(e)
		if (fault == nil || fault.Kind == trail.Missing) && seals != nil && e.Broken == nil {
			fault = seals.Add(e)
		}
		if out.Fault == nil && fault != nil && fault.Kind != trail.Missing {
			out.File, out.Fault = file, fault
		}
		found = found || e.Hash.String() == kept
		return nil
	})
	out.Head = v.Head()
	if out.Fault == nil && out.Lines == 0 {
		const text = "it is empty: each server writes a line at its start"
		out.File, out.Fault = r.Name, &trail.Fault{Kind: trail.Empty, Text: text}
	}
	if out.Fault == nil && !found {
		out.File, out.Fault = r.Name, &trail.Fault{Kind: trail.Head, Text: "no line has the hash that was kept: lines " +
			"were removed at the end, or all were written anew"}
	}
	return out, err
}
