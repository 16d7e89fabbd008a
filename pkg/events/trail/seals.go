package trail

import (
	"fmt"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/seal"
)

// Seals checks the seals of a server with a key, record after record. The server seals each minute. So a seal is
// missing, late or made with another key if lines are gone, written anew or sealed later.
type Seals struct {
	Key  seal.Key // of the first epoch, from where it was kept
	last seal.Key // of the last seal; its Epoch is 0 before the first one

	First   int       // epoch of the first seal; above 1: records before it are gone
	Until   time.Time // of the last seal
	Stopped bool      // the server stopped with it
	Open    int       // lines after it

	began time.Time // of the first line
}

// maxEpoch limits the time to compute a key. It is the number of minutes in 31 years.
const maxEpoch = 1 << 24

// Add checks the next line.
func (s *Seals) Add(e *Entry) *Fault {
	if s.began.IsZero() {
		s.began = e.Time
	}
	if text := s.check(e); text != "" {
		return &Fault{Seal, e.Line, text}
	}
	if s.Open++; e.Epoch > 0 {
		s.Until, s.Stopped, s.Open = e.Time, e.Note == events.NoteStop, 0
	}
	return nil
}

func (s *Seals) check(e *Entry) string {
	starts := e.Epoch > 0 && e.Note == events.NoteStart
	switch gap := e.Time.Sub(s.Until); {
	case s.First == 0 && e.Epoch == 0:
		return ""
	case s.First == 0:
		return s.begin(e)
	case s.Stopped && !starts:
		return "the server had stopped before it"
	case gap > allowed && !starts:
		return fmt.Sprintf("there is no seal for %s before it", gap.Round(time.Second))
	case gap < -maxBack:
		return fmt.Sprintf("its time is %s before that of the last seal", -gap)
	case e.Epoch == 0:
		return ""
	case e.Epoch == s.last.Epoch && starts && s.Open == 0: // the server was killed before its file had the next key
	case e.Epoch != s.last.Epoch+1:
		return fmt.Sprintf("seal number %d follows seal number %d", e.Epoch, s.last.Epoch)
	default:
		s.last = s.last.Next()
	}
	return s.made(e)
}

// begin checks the first seal. Without seals before it, lines that are older than its epoch cannot be there.
func (s *Seals) begin(e *Entry) string {
	switch {
	case e.Epoch > maxEpoch:
		return "the number of its seal is too large"
	case e.Epoch > 1 && e.Time.Sub(s.began) > allowed:
		return "the seals before it are missing"
	}
	s.First = e.Epoch
	for s.last = s.Key; s.last.Epoch < e.Epoch; s.last = s.last.Next() {
	}
	return s.made(e)
}

func (s *Seals) made(e *Entry) string {
	if !s.last.Made(e.Raw) {
		return "its seal is not one of the key: lines before it were changed, or it was made later"
	}
	return ""
}

// End checks that the last record does not end too early. current is the epoch of the key in the server's file; 0 means
// unknown.
func (s *Seals) End(now time.Time, current int) *Fault {
	switch {
	case s.First == 0:
		return &Fault{Kind: Seal, Text: "no line is sealed"}
	case s.last.Epoch+1 < current:
		return &Fault{Kind: Seal, Text: fmt.Sprintf("the server has made seals up to number %d, and the last one here has "+
			"number %d", current-1, s.last.Epoch)}
	case !s.Stopped && now.Sub(s.Until) > allowed:
		return &Fault{Kind: Seal, Text: "the last seal is of " + s.Until.Format(time.RFC3339) + ", and the server did not " +
			"stop then: it was killed, or lines after it are gone"}
	}
	return nil
}
