package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/run/handoff"
)

// A TempDir is a private directory below the temporary root, mode 0700. Should
// its owner be killed, a later start removes it: a file in it is locked as long
// as the owner lives.
type TempDir struct {
	Path  string
	root  *os.Root
	info  fs.FileInfo // tells it from another one put in its place
	claim *os.File
}

// The beginnings of the names of directories that a start removes when nobody
// claims them, and the files in one that say so.
const (
	statePrefix     = "mcpbash.state."
	bootstrapPrefix = "mcpbash.bootstrap."
	workPrefix      = "mcpbash.work."
	claimFile       = "owner"
	preservedFile   = "preserved"
)

// makeTempDir makes a directory, which must not be there.
func makeTempDir(path string) (*TempDir, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	d, err := openTempDir(path)
	if err == nil {
		err = trust.CheckOwn(path, d.info)
	}
	if err == nil {
		err = d.own()
	}
	if err == nil {
		return d, nil
	}
	if d != nil {
		d.Release()
	}
	os.Remove(filepath.Join(path, claimFile))
	os.Remove(path)
	return nil, err
}

// MakeBootstrapDir makes a directory for a project that lives as long as this
// process.
func MakeBootstrapDir(env Env) (*TempDir, error) { return makeTempDirIn(env, bootstrapPrefix) }

// MakeWorkDir makes a directory for what a command puts together.
func MakeWorkDir(env Env) (*TempDir, error) { return makeTempDirIn(env, workPrefix) }

func makeTempDirIn(env Env, prefix string) (*TempDir, error) {
	base, err := fsys.Physical(tmpRoot(env))
	if err != nil {
		return nil, err
	}
	return makeTempDir(filepath.Join(base, prefix+processTag()))
}

// own claims a directory that was just made. Only what is written into the file
// once it is locked says that somebody has: another start may look at it, and
// lock it, at any moment before.
func (d *TempDir) own() error {
	const attempts, pause = 50, time.Millisecond
	for range attempts {
		f, err := claim(d.root, os.O_CREATE)
		if err == nil {
			if d.claim != nil { // of a file that is gone
				d.claim.Close()
			}
			d.claim = f
			_, err = f.WriteString("claimed\n")
		}
		if !errors.Is(err, errClaimed) {
			return err
		}
		time.Sleep(pause)
	}
	return nil // a file system that locks nothing
}

// takeTempDir opens a directory that the user named, and makes it if it is missing. Scripts start what lies
// in it, so that nobody else may be able to change that.
func takeTempDir(path string) (*TempDir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	d, err := openTempDir(path)
	if err != nil {
		return nil, err
	}
	if err := trust.CheckOwn(path, d.info); err != nil {
		d.Release()
		return nil, err
	}
	return d, nil
}

// openTempDir opens a directory and claims nothing.
func openTempDir(path string) (*TempDir, error) {
	root, err := handoff.OpenDir(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &TempDir{Path: path, root: root, info: info}, nil
}

// isThere reports whether the directory still stands where it was made.
func (d *TempDir) isThere() bool {
	info, err := os.Lstat(d.Path)
	return err == nil && os.SameFile(info, d.info)
}

// isClaimed reports whether the claim on the directory stands, if it was claimed.
func (d *TempDir) isClaimed() bool {
	if d.claim == nil {
		return true
	}
	ours, err := d.claim.Stat()
	if err != nil {
		return false
	}
	there, err := d.root.Lstat(claimFile)
	return err == nil && os.SameFile(there, ours)
}

// Remove removes the directory.
func (d *TempDir) Remove() {
	d.remove()
	d.Release()
}

// remove removes what lies in the directory, whatever has its name now, and then the name if nothing lies there.
func (d *TempDir) remove() {
	f, err := d.root.Open(".")
	if err != nil {
		return
	}
	names, _ := f.Readdirnames(-1)
	f.Close()
	for _, name := range names {
		d.root.RemoveAll(name)
	}
	os.Remove(d.Path)
}

// Release gives up the directory, and leaves it in place.
func (d *TempDir) Release() {
	if d.claim != nil {
		d.claim.Close()
	}
	d.root.Close()
}

var errClaimed = errors.New("claimed by another process")

// claim locks the directory's file as long as it stays open. The error is
// errClaimed when another process has it.
func claim(root *os.Root, create int) (*os.File, error) {
	f, err := root.OpenFile(claimFile, os.O_RDWR|boundedfile.NonBlock|create, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case !lock(f):
		err = errClaimed
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// unclaimedAge is how long a directory that nobody has ever claimed is left alone:
// its owner may be about to.
const unclaimedAge = time.Minute

// CleanTmp removes what runs that were killed have left behind: directories
// that nobody claims any more, and scripts that still run for them.
func CleanTmp(tmpRoot string) {
	list, err := os.ReadDir(tmpRoot)
	if err != nil {
		return
	}
	for _, e := range list {
		isOurs := func(prefix string) bool { return strings.HasPrefix(e.Name(), prefix) }
		if e.IsDir() && slices.ContainsFunc([]string{statePrefix, bootstrapPrefix, workPrefix}, isOurs) {
			cleanTempDir(filepath.Join(tmpRoot, e.Name()))
		}
	}
}

func cleanTempDir(path string) {
	d, err := openTempDir(path)
	if err != nil {
		return
	}
	defer d.Release()
	if _, err := d.root.Lstat(preservedFile); err == nil || trust.CheckOwn(path, d.info) != nil {
		return
	}
	d.claim, err = claim(d.root, 0)
	if errors.Is(err, errClaimed) || !d.wasClaimed() && time.Since(d.info.ModTime()) < unclaimedAge {
		return
	}
	killOrphans(path)
	if d.isThere() {
		d.remove()
	}
}

// abandoned is how long something must not have changed to be what a run left behind that
// was killed: no run takes so long between two files.
const abandoned = time.Hour

// Sweep removes what runs that were killed left in a directory: files and directories whose names begin with a
// prefix, and that nobody else can have put there. What cannot be removed stays.
func Sweep(dir *os.Root, prefix string) {
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		info, err := dir.Lstat(name)
		if err == nil && time.Since(info.ModTime()) > abandoned &&
			trust.CheckOwn(filepath.Join(dir.Name(), name), info) == nil {
			dir.RemoveAll(name)
		}
	}
}

// wasClaimed reports whether a directory's owner had claimed it. The claim is
// ours now.
func (d *TempDir) wasClaimed() bool {
	if d.claim == nil {
		return false
	}
	info, err := d.claim.Stat()
	return err == nil && info.Size() > 0
}
