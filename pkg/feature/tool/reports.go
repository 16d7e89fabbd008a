package tool

import "bytes"

// Reports are the reports of a script that ended without a listener.
type Reports struct {
	Progress []Progress
	Logs     []LogMessage
	Size     int // in bytes
}

// Deliver passes the reports to a listener.
func (r *Reports) Deliver(l Listener) {
	for _, p := range r.Progress {
		l.Progress(p)
	}
	for _, m := range r.Logs {
		l.Log(m)
	}
}

// maxCollected limits the stored reports of one script, in bytes (M-53).
const maxCollected = 256 << 10

type collector struct {
	Reports
	full bool // some reports are dropped
}

// Ready implements [Listener].
func (*collector) Ready() bool { return true }

// Progress implements [Listener].
func (k *collector) Progress(p Progress) {
	if k.room(len(p.Value) + len(p.Total) + len(p.Message)) {
		k.Reports.Progress = append(k.Reports.Progress,
			Progress{bytes.Clone(p.Value), bytes.Clone(p.Total), bytes.Clone(p.Message)})
	}
}

// Log implements [Listener].
func (k *collector) Log(m LogMessage) {
	if k.room(len(m.Logger) + len(m.Data)) {
		k.Logs = append(k.Logs, LogMessage{m.Level, bytes.Clone(m.Logger), bytes.Clone(m.Data)})
	}
}

// Keep implements [Listener].
func (*collector) Keep(Reports) {}

func (k *collector) room(bytes int) bool {
	const perReport = 128 // approximate overhead in bytes
	if k.Size+bytes+perReport > maxCollected {
		k.full = true
		return false
	}
	k.Size += bytes + perReport
	return true
}
