package git

import (
	"bytes"
	"encoding/hex"
	"strings"

	"mcp-bash/pkg/provider/internal/web"
)

const (
	maxLinks  = 16
	maxTags   = 5       // tags of tags
	maxTarget = 4 << 10 // bytes of a symbolic link
)

// A missingFileError explains for the log why a path names no file (RES-125).
type missingFileError struct{ path, what string }

func (m *missingFileError) Error() string { return "File " + m.path + " " + m.what }

const errObject = web.ProtocolError("an object of the repository is malformed")

// rootOf returns the tree of a commit, or of the commit that a tag refers to.
func rootOf(s map[string]object, id string) (string, error) {
	for range maxTags {
		o, ok := s[id]
		if !ok {
			return "", web.ProtocolError("the server omits the commit")
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
	return "", web.ProtocolError("the tag names nothing but tags")
}

type entry struct {
	mode string
	id   string
}

// Modes of tree entries. Other modes are submodules.
const (
	modeTree = "40000"
	modeLink = "120000"
	modeFile = "100" // prefix of the modes of regular files
)

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

// find returns the id of the file at a path below a tree. It follows symbolic links within the tree (RES-125).
func find(c *checkout, root, path string, idSize int) (string, error) {
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
		tree, err := c.object(trees[len(trees)-1], treeObject)
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
			target, err := c.object(e.id, blobObject)
			if err != nil {
				return "", err
			}
			if len(target) > maxTarget || bytes.HasPrefix(target, []byte("/")) {
				return absent("escapes repository root")
			}
			todo = append(strings.Split(string(target), "/"), todo...)
		case strings.HasPrefix(e.mode, modeFile):
			if len(todo) > 0 {
				return absent("not found in repository") // a path below a file
			}
			return e.id, nil
		default:
			return absent("is a submodule")
		}
	}
	return absent("is a directory")
}
