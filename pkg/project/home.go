package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/files/trust"
)

// A Tree is the part of an installation that scripts use, as it is linked into
// the binary: sdk/, lib/ and VERSION (README decision 8).
type Tree map[string][]byte // slash-separated name to content

// Executables are the files of a tree with an execute bit.
func executable(name string) bool { return strings.HasPrefix(name, "providers/") }

// AddFS puts the files of a file system below a directory of the tree.
func (t Tree) AddFS(dir string, files fs.FS) {
	fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t[path.Join(dir, name)], err = fs.ReadFile(files, name)
		}
		return err
	})
}

// hash names the tree by its content.
func (t Tree) hash() string {
	h := sha256.New()
	for _, name := range sortedNames(t) {
		fmt.Fprintf(h, "%s\x00%d\x00", name, len(t[name]))
		h.Write(t[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// sdkFile is what makes a directory an installation tree.
const sdkFile = "sdk/tool-sdk.sh"

// A Home is the installation tree scripts are given (P-102).
type Home struct {
	Dir    string
	unpack func() error // nil for one that is installed

	mu   sync.Mutex
	done bool
	made time.Time // when a file last came into the SDK's directory, or went
}

// Make sees to it that the tree is there and as it should be. It must come
// before the first script; a session that starts none can do without. After a
// failure the next call tries again, and so it does when the tree got lost.
func (h *Home) Make() error {
	if h.unpack == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done && isTree(h.Dir) && h.made.Equal(changed(h.sdk())) {
		return nil
	}
	err := h.unpack()
	h.done, h.made = err == nil, changed(h.sdk())
	return err
}

func (h *Home) sdk() string { return filepath.Join(h.Dir, path.Dir(sdkFile)) }

// changed is when a directory was last changed, zero for none.
func changed(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// FindHome returns where the installation tree is (P-102, CLI-303).
// First comes the environment's, then the one the binary lies in, then the copy
// in the binary, which is to be unpacked. embedded is called for that only.
func FindHome(env Env, embedded func() Tree, warn func(string)) (*Home, error) {
	if dir := env["MCPBASH_HOME"]; dir != "" {
		if abs, err := filepath.Abs(dir); err == nil && isTree(abs) {
			return &Home{Dir: abs}, nil
		}
		warn("mcp-bash: MCPBASH_HOME has no sdk/tool-sdk.sh; ignoring " + dir)
	}
	exe := executablePath()
	if dir := treeAround(exe); dir != "" {
		return &Home{Dir: dir}, nil
	}
	t := embedded()
	name := t.hash()
	for _, base := range cacheDirs(env) {
		if dir := filepath.Join(base, name); isOurs(base) && (isWritable(base) || exists(dir)) {
			return &Home{Dir: dir, unpack: func() error { return unpack(t, base, name) }}, nil
		}
	}
	return nil, fmt.Errorf("mcp-bash install looks broken: expected %s (resolved from %s)",
		filepath.Join(filepath.Dir(filepath.Dir(exe)), filepath.FromSlash(sdkFile)), exe)
}

// InstalledHome returns the installation tree on disk, "" where there is only the
// copy in the binary.
func InstalledHome(env Env) string {
	if dir, err := filepath.Abs(env["MCPBASH_HOME"]); err == nil && env["MCPBASH_HOME"] != "" && isTree(dir) {
		return dir
	}
	return treeAround(executablePath())
}

// treeAround is the tree whose bin directory holds a binary, "" for none.
func treeAround(exe string) string {
	bin := filepath.Dir(exe)
	for _, dir := range []string{bin, filepath.Dir(bin)} {
		if filepath.Base(dir) == "bin" && isTree(filepath.Dir(dir)) {
			return filepath.Dir(dir)
		}
	}
	return ""
}

// isOurs makes a directory, if it is not there, and reports whether nobody else
// can put anything into it.
func isOurs(dir string) bool {
	os.MkdirAll(dir, 0o700)
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && trust.CheckOwn(dir, info) == nil
}

func isTree(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(sdkFile)))
	return err == nil && info.Mode().IsRegular()
}

// executablePath returns where this binary really is.
func executablePath() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if physical, err := filepath.EvalSymlinks(exe); err == nil {
		return physical
	}
	return exe
}

func cacheDirs(env Env) []string {
	var list []string
	if v := env["XDG_CACHE_HOME"]; filepath.IsAbs(v) {
		list = append(list, filepath.Join(v, "mcp-bash"))
	} else if v := env["HOME"]; filepath.IsAbs(v) && exists(v) {
		list = append(list, filepath.Join(v, ".cache", "mcp-bash"))
	}
	if v := env["MCPBASH_STATE_DIR"]; v != "" {
		list = append(list, filepath.Join(v, "home"))
	}
	for _, base := range tmpBases(env, tmpRoot(env)) {
		if base != "" && exists(base) {
			return append(list, filepath.Join(base, fmt.Sprintf("mcpbash.home.%d", os.Getuid())))
		}
	}
	return list
}

// The beginnings of the names of trees that are not, or no longer, in their place.
const (
	freshPrefix = ".new-"
	stalePrefix = ".old-"
)

// unpack makes a directory below base hold exactly the embedded tree.
func unpack(t Tree, base, name string) error {
	os.MkdirAll(base, 0o700)
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	if t.unpackedIn(root, name) {
		return nil
	}
	Sweep(root, freshPrefix)
	Sweep(root, stalePrefix)
	fresh := freshPrefix + randomTag()
	if err := t.write(root, fresh); err != nil {
		root.RemoveAll(fresh)
		return err
	}
	defer root.RemoveAll(fresh)
	if err = root.Rename(fresh, name); err == nil || t.unpackedIn(root, name) { // another process may have been faster
		return nil
	}
	stale := stalePrefix + randomTag() // a damaged one
	root.Rename(name, stale)
	defer root.RemoveAll(stale)
	if err = root.Rename(fresh, name); err != nil && t.unpackedIn(root, name) {
		return nil
	}
	return err
}

// unpackedIn reports whether a directory holds every file of the tree as it
// should be, in directories that are ours.
func (t Tree) unpackedIn(root *os.Root, dir string) bool {
	info, err := root.Lstat(dir)
	if err != nil || !info.IsDir() || trust.CheckOwn(filepath.Join(root.Name(), dir), info) != nil {
		return false
	}
	for name, want := range t {
		got, err := root.ReadFile(path.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			return false
		}
	}
	return true
}

func (t Tree) write(root *os.Root, dir string) error {
	if err := root.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, content := range t {
		file := path.Join(dir, name)
		if err := root.MkdirAll(path.Dir(file), 0o700); err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if executable(name) {
			mode = 0o700
		}
		if err := root.WriteFile(file, content, mode); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(t Tree) []string {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// CacheDir returns a directory for what can be had again, which only we can write
// to: the one an unpacked tree lies in.
func CacheDir(env Env) (string, error) {
	for _, dir := range cacheDirs(env) {
		if isOurs(dir) && isWritable(dir) {
			return dir, nil
		}
	}
	return "", errors.New("no private cache directory; set XDG_CACHE_HOME to one that only you can write to")
}
