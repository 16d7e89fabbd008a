package tool

import "bytes"

// Reports are what a script reported that has ended while nobody listened.
type Reports struct {
	Progress []Progress
	Logs     []LogMessage
	Size     int // in bytes
}

// Deliver hands the reports to a listener.
func (r *Reports) Deliver(l Listener) {
	for _, p := range r.Progress {
		l.Progress(p)
	}
	for _, m := range r.Logs {
		l.Log(m)
	}
}

// maxKept bounds what is kept of the reports of one script, in bytes (M-53).
const maxKept = 256 << 10

// A keeper is the listener that keeps reports.
type keeper struct {
	Reports
	full bool // some are left out
}

// Ready is [Listener.Ready].
func (*keeper) Ready() <-chan struct{} { return Always }

// Progress is [Listener.Progress].
func (k *keeper) Progress(p Progress) {
	if k.room(len(p.Value) + len(p.Total) + len(p.Message)) {
		k.Reports.Progress = append(k.Reports.Progress,
			Progress{bytes.Clone(p.Value), bytes.Clone(p.Total), bytes.Clone(p.Message)})
	}
}

// Log is [Listener.Log].
func (k *keeper) Log(m LogMessage) {
	if k.room(len(m.Logger) + len(m.Data)) {
		k.Logs = append(k.Logs, LogMessage{m.Level, bytes.Clone(m.Logger), bytes.Clone(m.Data)})
	}
}

// Keep is [Listener.Keep].
func (*keeper) Keep(Reports) {}

// room reports whether a report of some bytes can be kept.
func (k *keeper) room(bytes int) bool {
	const perReport = 128 // about what one takes beside its text
	if k.Size+bytes+perReport > maxKept {
		k.full = true
		return false
	}
	k.Size += bytes + perReport
	return true
}
