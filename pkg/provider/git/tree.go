package git

import (
	"bytes"
	"encoding/hex"
	"strings"
)

const (
	maxLinks  = 16
	maxTags   = 5       // that name another tag
	maxTarget = 4 << 10 // bytes of a symbolic link
)

// A missingFileError says why there is no file at a path, for the log (RES-125).
type missingFileError struct{ path, what string }

func (m *missingFileError) Error() string { return "File " + m.path + " " + m.what }

// A store finds objects by their id.
type store interface {
	// object returns the content of an object, which has to be of that kind.
	object(id string, kind byte) ([]byte, error)
}

const errObject = protocolError("an object of the repository is malformed")

// rootOf returns the tree of a commit, or of the commit that a tag names.
func rootOf(s map[string]object, id string) (string, error) {
	for range maxTags {
		o, ok := s[id]
		if !ok {
			return "", protocolError("the server does not send the commit that it names")
		}
		header, _, _ := bytes.Cut(o.data, []byte("\n"))
		key, value, _ := strings.Cut(string(header), " ")
		switch {
		case o.kind == commitObject && key == "tree":
			return value, nil
		case o.kind == tagObject && key == "object":
			id = value
		default:
			return "", errObject
		}
	}
	return "", protocolError("the tag names nothing but tags")
}

// An entry of a tree.
type entry struct {
	mode string
	id   string
}

// The modes that matter; what else there is, is not read.
const (
	modeTree = "40000"
	modeLink = "120000"
	modeFile = "100" // begins the mode of a regular file
)

// lookUp finds an entry of a tree by its name.
func lookUp(tree []byte, name string, size int) (e entry, ok bool, err error) {
	for len(tree) > 0 {
		mode, rest, ok := bytes.Cut(tree, []byte(" "))
		if !ok {
			return e, false, errObject
		}
		found, rest, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(rest) < size {
			return e, false, errObject
		}
		if string(found) == name {
			return entry{strings.TrimLeft(string(mode), "0"), hex.EncodeToString(rest[:size])}, true, nil
		}
		tree = rest[size:]
	}
	return e, false, nil
}

// find returns the id of the file at a path below a tree. Symbolic links are
// followed within the tree (RES-125).
func find(s store, root, path string, idSize int) (string, error) {
	absent := func(what string) (string, error) { return "", &missingFileError{path, what} }
	trees, links := []string{root}, 0
	todo := strings.Split(path, "/")
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(trees) == 1 {
				return absent("escapes repository root")
			}
			trees = trees[:len(trees)-1]
			continue
		}
		tree, err := s.object(trees[len(trees)-1], treeObject)
		if err != nil {
			return "", err
		}
		e, ok, err := lookUp(tree, name, idSize)
		switch {
		case err != nil:
			return "", err
		case !ok:
			return absent("not found in repository")
		case e.mode == modeTree:
			trees = append(trees, e.id)
		case e.mode == modeLink:
			if links++; links > maxLinks {
				return absent("is behind too many symbolic links")
			}
			target, err := s.object(e.id, blobObject)
			if err != nil {
				return "", err
			}
			if len(target) > maxTarget || bytes.HasPrefix(target, []byte("/")) {
				return absent("escapes repository root")
			}
			todo = append(strings.Split(string(target), "/"), todo...)
		case strings.HasPrefix(e.mode, modeFile):
			if len(todo) > 0 {
				return absent("not found in repository") // it is no directory
			}
			return e.id, nil
		default:
			return absent("is a submodule")
		}
	}
	return absent("is a directory")
}
