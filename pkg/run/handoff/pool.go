package handoff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/run/capacity"
)

// A Pool hands out hand-off directories below a private directory.
//
// Creating and removing a directory takes as long as starting a script. Therefore the pool
// renames a directory that is clean after a call, and uses it again. A script that has
// recorded its paths finds nothing there. The next call uses the new name.
type Pool struct {
	path    string
	private func() (*os.Root, error)
	cache   *Cache
	last    int // the number in the last name; guarded by cache.mu
}

// A Cache has the idle directories of several pools. It keeps as many directories as were recently in use at the same
// time, and at least one of each pool. Directories in use count too. Above the limit, the cache closes the oldest idle
// directories, so that their descriptors do not prevent scripts from starting. The zero value is ready to use.
type Cache struct {
	most int // idle directories and those in use; 0: as many as the process's limit on descriptors allows

	mu       sync.Mutex
	idle     []*Dir // the oldest first
	out      int    // the number of directories in use
	peak     int    // the maximum of out since the last sweep
	sweeping bool   // a sweep is due
	waste    []*Dir // directories that must be removed
	removing bool   // a goroutine removes them
}

// Pool returns a pool below the private directory path. private opens the private directory. Each Take calls it, and
// it can return a new directory after the old one was lost. Each pool of a cache needs its own path.
func (c *Cache) Pool(path string, private func() (*os.Root, error)) *Pool {
	return &Pool{path: path, private: private, cache: c}
}

// perDir is the number of descriptors of a directory: two folders, opened twice, and four
// files.
const perDir = 8

// FilesOfScript is the number of descriptors of a running script: its directory, exit status, output, wait set, waker,
// lifeline and confinement.
const FilesOfScript = perDir + 7

// mostScripts limits the directories and scripts where the descriptors allow more.
const mostScripts = 1000

// idleWithin returns the maximum number of directories, given the process's limit on open files.
func idleWithin(files int) int { return within(capacity.PartsOf(files).Running) }

// MostWaiting returns how many scripts may wait for their clients at the same time, given this process's limit on open
// files. As many may belong to long-running calls. Other scripts must be able to start.
var MostWaiting = sync.OnceValue(func() int { return within(capacity.PartsOf(capacity.Files()).Waiting) })

func within(files int) int { return max(1, min(files/FilesOfScript, mostScripts)) }

// idleTrust is how long an idle directory is assumed to be unchanged. Cleaners of temporary
// files remove single files that are days old.
const idleTrust = time.Minute

const sweepEvery = 800 * time.Millisecond

// Take returns a directory in its initial state.
func (p *Pool) Take() (*Dir, error) {
	parent, err := p.private()
	if err != nil {
		return nil, err
	}
	c := p.cache
	var name string
	c.mu.Lock()
	c.out++
	c.peak = max(c.peak, c.out)
	d := c.reuse(p.path)
	if d == nil {
		name = p.name()
	}
	c.shrink()
	c.mu.Unlock()
	if d != nil {
		if d.parent == parent && d.isThere() && (time.Since(d.idle) < idleTrust || d.reset()) {
			return d, nil
		}
		c.mu.Lock()
		c.discard(d)
		name = p.name()
		c.mu.Unlock()
	}
	d, err = newDir(parent, p.path, name)
	if err != nil {
		c.mu.Lock()
		c.out--
		c.mu.Unlock()
		return nil, fmt.Errorf("no hand-off directory in %s: %w", p.path, err)
	}
	return d, nil
}

// name returns a new name. The caller must hold the lock.
func (p *Pool) name() string {
	p.last++
	return "call." + strconv.Itoa(p.last)
}

// reuse removes the newest idle directory below a path from the cache and returns it, or nil. The caller must hold
// the lock.
func (c *Cache) reuse(path string) *Dir {
	for i, d := range slices.Backward(c.idle) {
		if d.above == path {
			c.idle = slices.Delete(c.idle, i, i+1)
			return d
		}
	}
	return nil
}

// shrink closes the oldest idle directories while there are too many directories. The caller must hold the lock.
func (c *Cache) shrink() {
	most := cmp.Or(c.most, MostIdle())
	n := max(0, min(len(c.idle), len(c.idle)+c.out-most))
	c.discard(c.idle[:n]...)
	c.idle = slices.Delete(c.idle, 0, n)
}

// Give returns a directory to the pool. alone reports that no known process of the call is
// left. Give itself checks whether a process has a file open.
func (p *Pool) Give(d *Dir, alone bool) {
	c := p.cache
	c.mu.Lock()
	name := p.name()
	c.mu.Unlock()
	// Rename it first. A process that knows its path then opens no file during the check or in the next call. It
	// creates none during the removal.
	renamed := d.parent.Rename(d.name, name) == nil
	if renamed {
		d.moved(name)
	}
	clean := renamed && alone && d.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out--
	if clean {
		d.idle = time.Now()
		c.idle = append(c.idle, d)
		c.shrink()
	} else {
		c.discard(d)
	}
	c.planSweep()
}

// Keep leaves a directory in place for inspection.
func (p *Pool) Keep(d *Dir) {
	d.close()
	p.cache.mu.Lock()
	p.cache.out--
	p.cache.mu.Unlock()
}

// Drop removes the idle directories of the pool.
func (p *Pool) Drop() {
	c := p.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	for d := c.reuse(p.path); d != nil; d = c.reuse(p.path) {
		c.discard(d)
	}
}

// discard closes directories. A separate goroutine removes them, because removing a
// directory that a script has filled can take long. The caller must hold the lock.
func (c *Cache) discard(list ...*Dir) {
	for _, d := range list {
		d.close()
	}
	c.waste = append(c.waste, list...)
	if c.removing || len(c.waste) == 0 {
		return
	}
	c.removing = true
	go func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for len(c.waste) > 0 {
			d := c.waste[0]
			c.waste = slices.Delete(c.waste, 0, 1)
			c.mu.Unlock()
			d.parent.RemoveAll(d.name)
			c.mu.Lock()
		}
		c.removing = false
	}()
}

// planSweep schedules a sweep if there are several idle directories. The caller must hold the
// lock.
func (c *Cache) planSweep() {
	if !c.sweeping && len(c.idle) > 1 {
		c.sweeping = true
		time.AfterFunc(sweepEvery, c.sweep)
	}
}

// sweep removes the directories that were not needed since the last sweep. It keeps one of each pool.
func (c *Cache) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweeping = false
	spare := len(c.idle) + c.out - max(1, c.peak)
	var kept, unneeded []*Dir
	for i, d := range c.idle {
		samePool := func(later *Dir) bool { return later.above == d.above }
		if len(unneeded) < spare && slices.ContainsFunc(c.idle[i+1:], samePool) {
			unneeded = append(unneeded, d)
		} else {
			kept = append(kept, d)
		}
	}
	c.idle = kept
	c.discard(unneeded...)
	c.peak = c.out
	c.planSweep()
}

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
func Follow(file *os.File) *Follower { return &Follower{file: file} }

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
