package project

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/handoff"
)

// A TempDir is a private directory below the temporary root, mode 0700. Its owner locks a file in it. If the owner is
// killed, a later start removes the directory.
type TempDir struct {
	Path  string
	root  *os.Root
	info  fs.FileInfo // identifies the directory, as another program may replace it
	claim *os.File
}

// The prefixes of the names of directories that a start removes when nobody claims them. The files claimFile and
// preservedFile prevent that.
const (
	statePrefix     = "mcpbash.state."
	bootstrapPrefix = "mcpbash.bootstrap."
	workPrefix      = "mcpbash.work."
	claimFile       = "owner"
	preservedFile   = "preserved"
)

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

// MakeBootstrapDir creates a directory for a project that exists as long as this process.
func MakeBootstrapDir(env Env) (*TempDir, error) { return makeTempDirIn(env, bootstrapPrefix) }

// MakeWorkDir creates a directory for temporary files of a command.
func MakeWorkDir(env Env) (*TempDir, error) { return makeTempDirIn(env, workPrefix) }

func makeTempDirIn(env Env, prefix string) (*TempDir, error) {
	base, err := fsys.Physical(tmpRoot(env))
	if err != nil {
		return nil, err
	}
	return makeTempDir(filepath.Join(base, prefix+processTag()))
}

// own claims a new directory. It locks the file, and then writes to it, because another start may lock the empty file
// first.
func (d *TempDir) own() error {
	const attempts, pause = 50, time.Millisecond
	for range attempts {
		f, err := claim(d.root, os.O_CREATE)
		if err == nil {
			if d.claim != nil { // the file of this claim was removed
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
	return nil // the file system has no locks
}

// takeTempDir opens a directory that the user named, and creates it if it is missing. Other users must not be able to
// write to it, because scripts start programs in it.
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

func (d *TempDir) isThere() bool {
	info, err := os.Lstat(d.Path)
	return err == nil && os.SameFile(info, d.info)
}

// isClaimed reports whether the file of the claim still exists. It returns true for a directory without a claim.
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

// removal is the time for which remove tries again.
const removal = 2 * time.Second

// remove removes the content of the open directory. It removes the path only if it is an empty directory. While it
// works, a process that was just killed can end the creation of a file, and another goroutine can remove the same
// files. Both can make a removal fail, so remove tries again for a while.
func (d *TempDir) remove() {
	const pause = time.Millisecond
	for end := time.Now().Add(removal); time.Now().Before(end); {
		n, err := d.clear()
		if n == 0 {
			break
		}
		if err != nil {
			time.Sleep(pause)
		}
	}
	os.Remove(d.Path)
}

// clear removes everything that it finds in the directory, and returns how much it found.
func (d *TempDir) clear() (n int, err error) {
	f, err := d.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	// The claim is removed last. If this process is killed before, the next start sees that the directory was claimed.
	if i := slices.Index(names, claimFile); i >= 0 {
		names = append(slices.Delete(names, i, i+1), claimFile)
	}
	for _, name := range names {
		if name == claimFile && err != nil {
			break
		}
		err = errors.Join(err, d.root.RemoveAll(name))
	}
	return len(names), err
}

// Release closes the directory, and keeps its files.
func (d *TempDir) Release() {
	if d.claim != nil {
		d.claim.Close()
	}
	d.root.Close()
}

var errClaimed = errors.New("claimed by another process")

// claim locks the directory's file as long as it stays open. The error is errClaimed if another process has locked
// it.
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
	default:
		if locked, _ := atomicfile.TryLock(f); locked {
			return f, nil
		}
		err = errClaimed
	}
	f.Close()
	return nil, err
}

// unclaimedAge is the minimum age at which an unclaimed directory is removed. The owner of a newer one may be about
// to claim it.
const unclaimedAge = time.Minute

// CleanTmp removes unclaimed directories of killed runs, and kills the scripts that still use them.
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

// abandoned is the age at which files count as left over from a killed run. No run takes so long between two files.
const abandoned = time.Hour

// Sweep removes files and directories of killed runs from a directory. Their names begin with a prefix, and no other
// user can have created them. Sweep ignores errors.
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

// wasClaimed reports whether the owner of the directory had claimed it. This process has the claim now.
func (d *TempDir) wasClaimed() bool {
	if d.claim == nil {
		return false
	}
	info, err := d.claim.Stat()
	return err == nil && info.Size() > 0
}

// IsWritable reports whether we can create files in a directory.
func IsWritable(dir string) bool { return checkWritable(dir) == nil }

// tmpRoot returns the base of all temporary files.
func tmpRoot(env Env) string {
	root := cmp.Or(env["MCPBASH_TMP_ROOT"], env["TMPDIR"], systemTmp())
	if trimmed := strings.TrimRight(root, string(filepath.Separator)); trimmed != "" {
		root = trimmed
	}
	if abs, err := filepath.Abs(root); err == nil {
		return abs
	}
	return root
}

// tmpBases returns the bases for a private directory, in the order of preference.
func tmpBases(env Env, first string) []string {
	return []string{first, env["RUNNER_TEMP"], env["TMPDIR"], systemTmp()}
}

// checkTmp warns if the base of temporary files does not exist. Nothing creates it, because its name is probably a
// mistake, and scripts get the same TMPDIR.
func (s *Settings) checkTmp(env Env, warn func(string)) {
	if !exists(s.TmpRoot) {
		name := "TMPDIR"
		if env["MCPBASH_TMP_ROOT"] != "" {
			name = "MCPBASH_TMP_ROOT"
		}
		warn("mcp-bash: " + name + " does not exist: " + s.TmpRoot +
			"; create it, or set " + name + " to a directory that exists")
	}
}

// applyCI sets the defaults of CI mode for unset variables. [NewState] creates the log directory.
func applyCI(env Env) {
	base := env["RUNNER_TEMP"]
	if base == "" && env["GITHUB_WORKSPACE"] != "" {
		base = filepath.Join(env["GITHUB_WORKSPACE"], ".mcpbash-tmp")
		os.MkdirAll(base, 0o700)
	}
	env.Default("MCPBASH_TMP_ROOT", cmp.Or(base, env["TMPDIR"], systemTmp()))
	env.Default("MCPBASH_KEEP_LOGS", "true")
	env.Default("MCPBASH_LOG_TIMESTAMP", "true")
	level := "info"
	if settings.Bool(env, "MCPBASH_CI_VERBOSE") {
		level = "debug"
	}
	env.Default("MCPBASH_LOG_LEVEL", level)
	env.Default("MCPBASH_LOG_DIR", filepath.Join(tmpRoot(env), "mcpbash.logs."+processTag()))
}

// Spool copies a stream to a file in a private directory, and returns its path. remove removes both. More than limit
// bytes are an error.
func Spool(env Env, in io.Reader, name string, limit int64) (path string, remove func(), err error) {
	dir, err := MakeWorkDir(env)
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir.Path, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		n, copied := io.Copy(f, io.LimitReader(in, limit+1))
		if err = errors.Join(copied, f.Close()); err == nil && n > limit {
			err = fmt.Errorf("more than %d MB", limit>>20)
		}
	}
	if err != nil {
		dir.Remove()
		return "", nil, fmt.Errorf("standard input: %w", err)
	}
	return path, func() { dir.Remove() }, nil
}
