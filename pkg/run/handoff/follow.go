package handoff

import (
	"bytes"
	"io"
	"os"
	"time"
)

// A Follower reads lines while a script appends them to a file.
type Follower struct {
	file    *os.File
	at      int64  // the offset up to which the file was read
	part    []byte // an incomplete line
	skip    bool   // the current line is too long and is dropped
	changed time.Time
}

// The limits on reading a stream, in bytes.
const (
	maxLine    = 1 << 20   // longer lines are dropped
	maxPoll    = 256 << 10 // in one poll
	maxFinish  = 16 << 20  // after the script has ended
	firstChunk = 4 << 10
	nextChunk  = 64 << 10
)

// Follow returns a Follower for an empty file.
func Follow(file *os.File) *Follower {
	return &Follower{file: file}
}

// Touched reports whether the file was modified since the last call. It does not read the
// file. The first call reports whether the file has content, because most scripts end before it.
func (f *Follower) Touched() bool {
	info, err := f.file.Stat()
	if err != nil || info.ModTime().Equal(f.changed) {
		return false
	}
	first := f.changed.IsZero()
	f.changed = info.ModTime()
	return !first || info.Size() > 0
}

// Poll calls line with each complete line, without line ends. It reports whether the file
// was modified since the last poll. It reads a limited number of bytes, for any size of the
// file.
func (f *Follower) Poll(line func([]byte)) (active bool) {
	active = f.Touched()
	f.read(maxPoll, line)
	return active
}

// Finish reads the rest of the file after the script has ended. The last line needs no line
// end. complete reports whether the rest was within the limit.
func (f *Follower) Finish(line func([]byte)) (complete bool) {
	complete = f.read(maxFinish, line)
	if len(f.part) > 0 && !f.skip {
		line(f.part)
	}
	f.part = nil
	return complete
}

// read reads at most limit bytes, and reports whether it reached the end.
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
