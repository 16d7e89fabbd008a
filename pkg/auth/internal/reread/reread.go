// Package reread has the content of files that decide which clients a server accepts, and reads them again when they
// change.
package reread

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/secretfile"
)

// Interval is the minimum time between two checks of the files. A revoked credential can stay valid that long.
const Interval = time.Second

// A File is a path with the rule for it.
type File struct {
	Path string
	Rule secretfile.Rule
}

// A Config is the input of [Open].
type Config[T any] struct {
	Name        string // of the files, in lines of the log
	Consequence string // of a fault, in lines of the log
	Files       []File // that are read together
	Parse       func(texts [][]byte) (T, error)
	Keep        bool                 // a fault leaves the last value in use
	Log         func(line string)    // receives a line when the files become unusable, or usable again
	Now         func() time.Time     // of the wall clock
	Elapsed     func() time.Duration // a time that only grows
}

// Files are the files of a Config. Methods are safe for concurrent use.
type Files[T any] struct {
	Config[T]
	checked atomic.Int64 // the time of the last look at the files, of Elapsed
	content atomic.Pointer[Content[T]]
	mu      sync.Mutex // for reading the files
	logged  string     // the last line, or the one about usable files
	watcher func(*Content[T])
}

// A Content is the parsed content of the files at the time of a read.
type Content[T any] struct {
	Value  T
	Hash   [sha256.Size]byte // of the first file
	Fault  error             // not nil: the files are unusable; only with Keep, there is a Value
	stamps []folder.Stamp
	read   time.Time
}

// Open reads the files. The error is their fault.
func Open[T any](c Config[T]) (*Files[T], error) {
	f := &Files[T]{Config: c}
	f.logged = f.usable()
	content := f.read()
	f.content.Store(content)
	f.checked.Store(int64(f.Elapsed()))
	return f, content.Fault
}

// Current returns the content. It checks the files again after [Interval].
func (f *Files[T]) Current() *Content[T] {
	now := f.Elapsed()
	if now-time.Duration(f.checked.Load()) < Interval || !f.mu.TryLock() {
		return f.content.Load()
	}
	defer f.mu.Unlock()
	f.checked.Store(int64(now))
	old := f.content.Load()
	if old.Fault == nil && f.unchanged(old) {
		return old
	}
	fresh := f.read()
	if fresh.Fault != nil && f.Keep {
		fresh.Value = old.Value
	}
	line := f.usable()
	if fresh.Fault != nil {
		line = fmt.Sprintf("%s: %v; %s", f.Name, fresh.Fault, f.Consequence)
	}
	if line != f.logged {
		f.Log(line)
	}
	f.logged = line
	f.content.Store(fresh)
	if f.watcher != nil {
		f.watcher(fresh)
	}
	return fresh
}

func (f *Files[T]) usable() string { return f.Name + ": usable again" }

// Watch calls watcher with the content, now and after each reload.
func (f *Files[T]) Watch(watcher func(*Content[T])) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watcher = watcher
	watcher(f.content.Load())
}

// unchanged reports whether the files are certainly those that were read.
func (f *Files[T]) unchanged(c *Content[T]) bool {
	for i, file := range f.Files {
		if stamp := secretfile.Stamp(file.Path); stamp != c.stamps[i] || !stamp.Settled(c.read) {
			return false
		}
	}
	return true
}

func (f *Files[T]) read() *Content[T] {
	c := &Content[T]{read: f.Now()}
	texts := make([][]byte, len(f.Files))
	for i, file := range f.Files {
		text, stamp, err := file.Rule.Read(file.Path)
		if err != nil {
			if c.Fault = err; len(f.Files) > 1 {
				c.Fault = fmt.Errorf("%s: %w", file.Path, err)
			}
			return c
		}
		c.stamps, texts[i] = append(c.stamps, stamp), text
	}
	if len(texts) > 0 {
		c.Hash = sha256.Sum256(texts[0])
	}
	c.Value, c.Fault = f.Parse(texts)
	return c
}
