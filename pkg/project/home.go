package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
)

// A Tree is the part of an installation that scripts use: sdk/, lib/ and VERSION. The binary contains a copy (README
// decision 8).
type Tree map[string][]byte // slash-separated name to content

func executable(name string) bool { return strings.HasPrefix(name, "providers/") }

// AddFS adds the files of a file system below a directory of the tree.
func (t Tree) AddFS(dir string, files fs.FS) {
	fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t[path.Join(dir, name)], err = fs.ReadFile(files, name)
		}
		return err
	})
}

func (t Tree) hash() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(h, "%s\x00%d\x00", name, len(t[name]))
		h.Write(t[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

const sdkFile = "sdk/tool-sdk.sh"

// A Home is the installation tree of a run's scripts.
type Home struct {
	Dir    string
	unpack func() error // nil for an installed tree

	mu   sync.Mutex
	done bool
	made folder.Stamp // of the SDK's directory
}

// Make unpacks or restores the tree. The caller calls it before each script. After an error, or if the tree was
// removed, the next call tries again.
func (h *Home) Make() error {
	if h.unpack == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	sdk := filepath.Join(h.Dir, path.Dir(sdkFile))
	if h.done && isTree(h.Dir) && h.made == folder.StampOfTarget(sdk) {
		return nil
	}
	err := h.unpack()
	h.done, h.made = err == nil, folder.StampOfTarget(sdk)
	return err
}

// FindHome returns the installation tree: that of MCPBASH_HOME, or the tree around the binary, or the copy in the
// binary, which Make unpacks. FindHome calls embedded only for the copy.
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
		if dir := filepath.Join(base, name); isOurs(base) && (IsWritable(base) || exists(dir)) {
			return &Home{Dir: dir, unpack: func() error { return unpack(t, base, name) }}, nil
		}
	}
	return nil, fmt.Errorf("mcp-bash install looks broken: expected %s (resolved from %s)",
		filepath.Join(filepath.Dir(filepath.Dir(exe)), filepath.FromSlash(sdkFile)), exe)
}

// InstalledHome returns the path of the installation tree on disk, or "". The path stays the same when install.sh
// replaces the tree.
func InstalledHome(env Env) string {
	if dir, err := filepath.Abs(env["MCPBASH_HOME"]); err == nil && env["MCPBASH_HOME"] != "" && isTree(dir) {
		return dir
	}
	return Lasting(treeAround(executablePath()))
}

// Lasting returns the link to a tree that install.sh updates when it installs another version, or else the tree.
func Lasting(tree string) string {
	link, versioned := strings.CutSuffix(filepath.Dir(tree), ".versions")
	if versioned && fsys.Same(link, tree) {
		return link
	}
	return tree
}

// treeAround returns the tree whose bin directory contains a binary, or "".
func treeAround(exe string) string {
	bin := filepath.Dir(exe)
	for _, dir := range []string{bin, filepath.Dir(bin)} {
		if filepath.Base(dir) == "bin" && isTree(filepath.Dir(dir)) {
			return filepath.Dir(dir)
		}
	}
	return ""
}

// isOurs creates a directory if it is missing, and reports whether no other user can write to it.
func isOurs(dir string) bool {
	os.MkdirAll(dir, 0o700)
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && trust.CheckOwn(dir, info) == nil
}

func isTree(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(sdkFile)))
	return err == nil && info.Mode().IsRegular()
}

// executablePath returns the path of this binary, with links resolved.
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

// The prefixes of the names of trees before and after their use.
const (
	freshPrefix = ".new-"
	stalePrefix = ".old-"
)

// unpack writes the embedded tree to a directory below base, unless it is there.
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
	if err = root.Rename(fresh, name); err == nil || t.unpackedIn(root, name) { // another process was faster
		return nil
	}
	stale := stalePrefix + randomTag() // the damaged tree
	root.Rename(name, stale)
	defer root.RemoveAll(stale)
	if err = root.Rename(fresh, name); err != nil && t.unpackedIn(root, name) {
		return nil
	}
	return err
}

// unpackedIn reports whether a directory belongs to us, and contains every file of the tree unchanged.
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

// CacheDir returns a cache directory to which no other user can write. Unpacked trees are in it.
func CacheDir(env Env) (string, error) {
	for _, dir := range cacheDirs(env) {
		if isOurs(dir) && IsWritable(dir) {
			return dir, nil
		}
	}
	return "", errors.New("no private cache directory; set XDG_CACHE_HOME to one that only you can write to")
}

// UsePackaged sets the project and the allow list if this program was installed under another name. The project of a
// program NAME is ../share/NAME/project next to it, with links resolved. It keeps values that the environment sets.
func UsePackaged() {
	if os.Getenv("MCPBASH_PROJECT_ROOT") != "" {
		return
	}
	root := packagedRoot(executablePath())
	if root == "" {
		return
	}
	os.Setenv("MCPBASH_PROJECT_ROOT", root)
	if os.Getenv("MCPBASH_TOOL_ALLOWLIST") == "" {
		os.Setenv("MCPBASH_TOOL_ALLOWLIST", "*")
	}
}

// packagedRoot returns the project next to a program, or "".
func packagedRoot(exe string) string {
	name := strings.TrimSuffix(filepath.Base(exe), ".exe")
	root := filepath.Join(filepath.Dir(filepath.Dir(exe)), "share", name, "project")
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(Marker)))
	if name == "mcp-bash" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return root
}

// Releases returns the address of the releases, or "" if it is unknown. The environment takes precedence over the file
// RELEASES of an installation, which "make release" writes. home is the installation, or "".
func Releases(env Env, home string) string {
	if base := env["MCPBASH_RELEASE_BASE_URL"]; base != "" || home == "" {
		return base
	}
	text, err := boundedfile.Read(filepath.Join(home, "RELEASES"), 4<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// InstallerFile is the record that install.sh writes into an installation.
const InstallerFile = "INSTALLER.json"

// Record returns the record that install.sh wrote into the installation home, or nil.
func Record(home string) json.RawMessage {
	if home == "" {
		return nil
	}
	text, err := boundedfile.Read(filepath.Join(home, InstallerFile), 64<<10)
	if err != nil {
		return nil
	}
	record, err := rawjson.Check(text)
	if err != nil {
		return nil
	}
	return record
}

// Checkout returns the sources from which install.sh built the installation home, or "" if they are unknown.
func Checkout(home string) string { return rawjson.TextOf(Record(home), "checkout") }
