package doctor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
)

// filesList is the file in which an installation lists its files but the marker, as sha256sum
// does (CLI-1708).
const filesList = "INSTALLED.sha256"

const maxList = 8 << 20

// A keeper has a staged tree hold what lies in the installation and was not installed, or was
// changed since (CLI-1713).
type keeper struct {
	parent      *os.Root // of both
	live, stage string   // their names
	listed      map[string]string
	dirs        map[string]bool // those with listed files in them
	kept        []Action
}

// keepOwn returns what was kept. listed is false for an installation that does not list its
// files, of which nothing is.
func keepOwn(live, stage string) (kept []Action, listed bool, err error) {
	parent, err := os.OpenRoot(filepath.Dir(live))
	if err != nil {
		return nil, false, err
	}
	defer parent.Close()
	k := &keeper{parent: parent, live: filepath.Base(live), stage: filepath.Base(stage)}
	text, err := boundedfile.Read(filepath.Join(live, filesList), maxList)
	if err != nil {
		if _, missing := os.Lstat(filepath.Join(live, filesList)); errors.Is(missing, fs.ErrNotExist) {
			return nil, false, nil
		}
		return nil, false, err
	}
	k.parse(string(text))
	if err := k.keep("."); err != nil {
		return nil, true, &failure{"self.upgrade_stage_failed",
			"what is yours in the installation cannot be kept: " + err.Error(), 1}
	}
	return k.kept, true, nil
}

func (k *keeper) parse(text string) {
	k.listed, k.dirs = map[string]string{}, map[string]bool{}
	for line := range strings.Lines(text) {
		sum, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ./")
		if !found || !filepath.IsLocal(name) {
			continue
		}
		k.listed[name] = sum
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			k.dirs[dir] = true
		}
	}
}

// keep looks at what lies in a directory of the installation.
func (k *keeper) keep(dir string) error {
	names, err := k.names(path.Join(k.live, dir))
	if err != nil {
		return err
	}
	for _, base := range names {
		name := path.Join(dir, base)
		if name == marker || name == filesList {
			continue
		}
		info, err := k.parent.Lstat(path.Join(k.live, name))
		if err != nil {
			return err
		}
		there, err := k.parent.Lstat(path.Join(k.stage, name))
		isThere := err == nil
		switch {
		case info.IsDir() && (k.dirs[name] || isThere && there.IsDir()):
			if err := k.keep(name); err != nil {
				return err
			}
			continue
		case info.Mode().IsRegular() && (k.listed[name] != "" && k.sum(k.live, name) == k.listed[name] ||
			isThere && there.Mode().IsRegular() && k.sum(k.live, name) == k.sum(k.stage, name)):
			continue
		}
		to := name
		for isThere {
			to += ".saved"
			_, err := k.parent.Lstat(path.Join(k.stage, to))
			isThere = err == nil
		}
		if err := k.parent.MkdirAll(path.Join(k.stage, path.Dir(to)), 0o755); err != nil {
			return err
		}
		if err := k.copy(name, to, info); err != nil {
			return err
		}
		k.note(name, to)
	}
	return nil
}

func (k *keeper) note(name, to string) {
	shown := filepath.Join(k.parent.Name(), k.live, filepath.FromSlash(name))
	a := Action{ID: "self.keep", Message: "Kept, as it is yours: " + shown, Line: "✓ Kept, as it is yours: " + shown}
	if to != name {
		a.Message = fmt.Sprintf("Changed by you, and kept as %s: %s", path.Base(to), shown)
		a.Line = "⚠ " + a.Message
	}
	k.kept = append(k.kept, a)
}

func (k *keeper) names(dir string) ([]string, error) {
	f, err := k.parent.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// sum is the checksum of a regular file in a tree, "" where it cannot be read.
func (k *keeper) sum(tree, name string) string {
	f, err := boundedfile.OpenIn(k.parent, path.Join(tree, name))
	if err != nil {
		return ""
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// copy has the stage hold the very files of the installation, under another name.
func (k *keeper) copy(name, to string, info fs.FileInfo) error {
	from, to := path.Join(k.live, name), path.Join(k.stage, to)
	if !info.IsDir() {
		return k.parent.Link(from, to)
	}
	if err := k.parent.Mkdir(to, 0o700); err != nil {
		return err
	}
	names, err := k.names(from)
	if err != nil {
		return err
	}
	for _, base := range names {
		inside, err := k.parent.Lstat(path.Join(from, base))
		if err != nil {
			return err
		}
		below := strings.TrimPrefix(to, k.stage+"/")
		if err := k.copy(path.Join(name, base), path.Join(below, base), inside); err != nil {
			return err
		}
	}
	return k.parent.Chmod(to, info.Mode().Perm())
}

// listFiles writes the list of a staged tree.
func listFiles(stage string) error {
	root, err := os.OpenRoot(stage)
	if err != nil {
		return err
	}
	defer root.Close()
	var list bytes.Buffer
	k := keeper{parent: root}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && name != marker && name != filesList {
			fmt.Fprintf(&list, "%s  ./%s\n", k.sum(".", name), name)
		}
		return err
	})
	if err != nil {
		return err
	}
	return root.WriteFile(filesList, list.Bytes(), 0o644)
}
