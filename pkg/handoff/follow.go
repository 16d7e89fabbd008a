package handoff

import (
	"bytes"
	"io"
	"os"
	"time"
)

// A Follower reads the lines that a script appends to a file, while it does.
type Follower struct {
	file    *os.File
	at      int64  // up to where the file was read
	part    []byte // a line without its end
	skip    bool   // the line is too long: drop it up to its end
	changed time.Time
}

// The bounds on what is read of a stream, in bytes.
const (
	maxLine    = 1 << 20   // of a longer line nothing is kept
	maxPoll    = 256 << 10 // in one poll
	maxFinish  = 16 << 20  // after the script has ended
	firstChunk = 4 << 10
	nextChunk  = 64 << 10
)

// Follow returns a follower of what is written from now on to a file that is
// empty.
func Follow(file *os.File) *Follower {
	f := &Follower{file: file}
	f.Touched()
	return f
}

// Touched reports whether the file was written to or touched since the last
// time, without reading it.
func (f *Follower) Touched() bool {
	info, err := f.file.Stat()
	if err != nil || info.ModTime().Equal(f.changed) {
		return false
	}
	f.changed = info.ModTime()
	return true
}

// Poll calls line with lines that became complete, without their ends, and
// reports whether the file was written to or touched since the last poll. It
// reads a bounded number of bytes, whatever the size of the file.
func (f *Follower) Poll(line func([]byte)) (active bool) {
	active = f.Touched()
	f.read(maxPoll, line)
	return active
}

// Finish reads what the script has left; its last line counts without its end
// now. It reports whether that was read to the end: there is a bound.
func (f *Follower) Finish(line func([]byte)) (complete bool) {
	complete = f.read(maxFinish, line)
	if len(f.part) > 0 && !f.skip {
		line(f.part)
	}
	f.part = nil
	return complete
}

// read reads at most limit bytes and reports whether the end was reached.
func (f *Follower) read(limit int, line func([]byte)) (end bool) {
	info, err := f.file.Stat()
	if err != nil || info.Size() == f.at {
		return true
	}
	if info.Size() < f.at { // the script truncated it
		f.at, f.part, f.skip = 0, nil, false
	}
	size := firstChunk
	if info.Size()-f.at > firstChunk {
		size = nextChunk
	}
	buf := make([]byte, size)
	for limit > 0 {
		n, err := f.file.ReadAt(buf[:min(len(buf), limit)], f.at)
		f.at += int64(n)
		limit -= n
		f.split(buf[:n], line)
		if err != nil || n == 0 {
			return err == nil || err == io.EOF
		}
	}
	return false
}

func (f *Follower) split(data []byte, line func([]byte)) {
	for {
		at := bytes.IndexByte(data, '\n')
		if at < 0 {
			break
		}
		whole := data[:at]
		if len(f.part) > 0 {
			whole = append(f.part, whole...)
		}
		if !f.skip && len(whole) <= maxLine && len(bytes.TrimSpace(whole)) > 0 {
			line(whole)
		}
		f.part, f.skip = nil, false
		data = data[at+1:]
	}
	if len(data) == 0 || f.skip {
		return
	}
	if len(f.part)+len(data) > maxLine {
		f.part, f.skip = nil, true
		return
	}
	f.part = append(f.part, data...)
}
