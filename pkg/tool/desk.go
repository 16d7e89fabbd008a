package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A desk is the directory a call and its script hand each other things in
// (T-69 to T-79): four files that exist and are empty when the script starts,
// a directory for questions, and names under which more may appear.
//
// Making and removing them costs as much as starting the script, so a desk
// that is found clean after a call is put aside under another name and serves
// again. A script that wrote down its paths finds nothing there any more.
type desk struct {
	dir      string
	progress *os.File
	logs     *os.File
	errors   *os.File
	embeds   *os.File
}

// The names in a desk.
const (
	progressName = "progress.ndjson"
	logsName     = "logs.ndjson"
	errorName    = "error.json"
	embedsName   = "resources"
	inputName    = "input"
	cancelName   = "cancelled"
	elicitAsk    = "elicit.request"
	elicitAnswer = "elicit.response"
	batchAsk     = "batch.request"
	batchAnswer  = "batch.response"
)

func (d *desk) path(name string) string { return d.dir + string(filepath.Separator) + name }

// desks hands out desks below a state directory. It keeps as many as were in
// use at once lately, at least one.
type desks struct {
	state    string
	mu       sync.Mutex
	idle     []*desk
	next     int
	out      int  // how many are in use
	most     int  // the most there were since the last sweep
	sweeping bool // a sweep is due
}

// Between two sweeps lies this time.
const sweepEvery = 800 * time.Millisecond

// take returns a clean desk.
func (ds *desks) take() (*desk, error) {
	ds.mu.Lock()
	ds.next++
	dir := filepath.Join(ds.state, "call."+strconv.Itoa(ds.next))
	var d *desk
	ds.out++
	ds.most = max(ds.most, ds.out)
	if n := len(ds.idle); n > 0 {
		d, ds.idle = ds.idle[n-1], ds.idle[:n-1]
	}
	ds.mu.Unlock()
	if d != nil {
		if err := os.Rename(d.dir, dir); err == nil {
			d.dir = dir
			return d, nil
		}
		d.close()
	}
	d, err := newDesk(dir)
	if err != nil {
		ds.mu.Lock()
		ds.out--
		ds.mu.Unlock()
	}
	return d, err
}

func newDesk(dir string) (*desk, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	d := &desk{dir: dir}
	var errs []error
	for name, file := range map[string]**os.File{progressName: &d.progress, logsName: &d.logs, errorName: &d.errors, embedsName: &d.embeds} {
		f, err := os.OpenFile(d.path(name), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		*file = f
		errs = append(errs, err)
	}
	errs = append(errs, os.Mkdir(d.path(inputName), 0o700))
	if err := errors.Join(errs...); err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

// give takes a desk back. alone says that no process of the call is left that
// could still write to it.
func (ds *desks) give(d *desk, alone bool) {
	clean := alone && d.tidy()
	ds.mu.Lock()
	ds.out--
	if clean {
		ds.next++
		dir := filepath.Join(ds.state, "idle."+strconv.Itoa(ds.next))
		if clean = os.Rename(d.dir, dir) == nil; clean {
			d.dir = dir
			ds.idle = append(ds.idle, d)
		}
	}
	ds.planSweep()
	ds.mu.Unlock()
	if !clean {
		d.remove()
	}
}

// keep leaves a desk where it is, for somebody to look at.
func (ds *desks) keep(d *desk) {
	d.close()
	ds.mu.Lock()
	ds.out--
	ds.mu.Unlock()
}

// planSweep sees to it that desks nobody needs do not stay.
func (ds *desks) planSweep() {
	if !ds.sweeping && len(ds.idle) > 1 {
		ds.sweeping = true
		time.AfterFunc(sweepEvery, ds.sweep)
	}
}

// sweep removes the desks that were not needed since the last one.
func (ds *desks) sweep() {
	ds.mu.Lock()
	ds.sweeping = false
	spare := max(0, len(ds.idle)+ds.out-max(1, ds.most))
	spare = min(spare, len(ds.idle))
	drop := slices.Clone(ds.idle[:spare])
	ds.idle = slices.Delete(ds.idle, 0, spare)
	ds.most = ds.out
	ds.planSweep()
	ds.mu.Unlock()
	for _, d := range drop {
		d.remove()
	}
}

// tidy puts a desk into the state of a new one, and reports whether it is.
func (d *desk) tidy() bool {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return false
	}
	kept := 0
	for _, e := range entries {
		switch e.Name() {
		case progressName, logsName, errorName, embedsName, inputName:
			kept++
		default:
			if os.RemoveAll(d.path(e.Name())) != nil {
				return false
			}
		}
	}
	if kept != 5 {
		return false
	}
	for name, f := range map[string]*os.File{progressName: d.progress, logsName: d.logs, errorName: d.errors, embedsName: d.embeds} {
		if !d.reset(name, f) {
			return false
		}
	}
	inputs, err := os.ReadDir(d.path(inputName))
	for _, e := range inputs {
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.path(inputName), e.Name())))
	}
	return err == nil
}

// reset empties a file, unless something else was put in its place.
func (d *desk) reset(name string, f *os.File) bool {
	there, err := os.Lstat(d.path(name))
	if err != nil {
		return false
	}
	ours, err := f.Stat()
	if err != nil || !os.SameFile(there, ours) || ours.Mode() != fs.FileMode(0o600) {
		return false
	}
	return ours.Size() == 0 || f.Truncate(0) == nil
}

func (d *desk) close() {
	for _, f := range []*os.File{d.progress, d.logs, d.errors, d.embeds} {
		if f != nil {
			f.Close()
		}
	}
}

func (d *desk) remove() {
	d.close()
	os.RemoveAll(d.dir)
}

// put writes a file that the script may find: whole, or not there at all.
func (d *desk) put(name string, content []byte) error {
	aside := d.path(name + ".new")
	if err := os.WriteFile(aside, content, 0o600); err != nil {
		return err
	}
	return os.Rename(aside, d.path(name))
}

// fetch takes away a file that the script put there by rename; nil when there
// is none. At most max bytes are read, and one more to tell that it was cut.
func (d *desk) fetch(name string, max int) ([]byte, bool) {
	path := d.path(name)
	if info, err := os.Lstat(path); err != nil {
		return nil, false
	} else if !info.Mode().IsRegular() {
		os.RemoveAll(path)
		return nil, true
	}
	content, err := readFile(path, max)
	os.Remove(path)
	if err != nil {
		return nil, true
	}
	return content, true
}
