package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
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

// FindHome returns MCPBASH_HOME: the installation tree scripts are given
// (protocol P-102, cli B-3). First comes the environment's, then the tree the
// binary lies in, then the copy in the binary, which is unpacked. embedded is
// called for that only.
func FindHome(env Env, embedded func() Tree, warn func(string)) (string, error) {
	if dir := env["MCPBASH_HOME"]; dir != "" {
		if abs, err := filepath.Abs(dir); err == nil && isTree(abs) {
			return abs, nil
		}
		warn("mcp-bash: MCPBASH_HOME has no sdk/tool-sdk.sh; ignoring " + dir)
	}
	exe := executablePath()
	if bin := filepath.Dir(exe); filepath.Base(bin) == "bin" && isTree(filepath.Dir(bin)) {
		return filepath.Dir(bin), nil
	} else if bin = filepath.Dir(bin); filepath.Base(bin) == "bin" && isTree(filepath.Dir(bin)) {
		return filepath.Dir(bin), nil
	}
	t := embedded()
	for _, base := range cacheDirs(env) {
		if dir, err := unpack(t, base); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("mcp-bash install looks broken: expected %s (resolved from %s).",
		filepath.Join(filepath.Dir(filepath.Dir(exe)), filepath.FromSlash(sdkFile)), exe)
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
	} else if v := env["HOME"]; filepath.IsAbs(v) {
		list = append(list, filepath.Join(v, ".cache", "mcp-bash"))
	}
	if v := env["MCPBASH_STATE_DIR"]; v != "" {
		list = append(list, filepath.Join(v, "home"))
	}
	return append(list, filepath.Join(tmpRoot(env), fmt.Sprintf("mcpbash.home.%d", os.Getuid())))
}

// unpack returns a directory below base that holds exactly the embedded tree,
// making or mending it where needed.
func unpack(t Tree, base string) (string, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	if info, err := os.Lstat(base); err != nil || !info.IsDir() || DistrustMode(info) != "" {
		return "", fmt.Errorf("%s is not ours alone", base)
	}
	name := t.hash()
	dir := filepath.Join(base, name)
	root, err := os.OpenRoot(base)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if t.unpackedIn(root, name) {
		return dir, nil
	}
	fresh := ".new-" + randomTag()
	if err := t.write(root, fresh); err != nil {
		root.RemoveAll(fresh)
		return "", err
	}
	stale := ".old-" + randomTag()
	root.Rename(name, stale) // there may be a damaged one
	err = root.Rename(fresh, name)
	root.RemoveAll(stale)
	root.RemoveAll(fresh)
	if err != nil && !t.unpackedIn(root, name) { // else another process was faster
		return "", err
	}
	return dir, nil
}

// unpackedIn reports whether a directory holds every file of the tree as it
// should be, in directories that are ours.
func (t Tree) unpackedIn(root *os.Root, dir string) bool {
	info, err := root.Lstat(dir)
	if err != nil || !info.IsDir() || DistrustMode(info) != "" {
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
