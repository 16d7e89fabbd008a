package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"mcp-bash/pkg/registry/folder"
)

// A File becomes a file of the directory when it is complete.
type File struct {
	*os.File
	Dir       *os.Root
	name, tmp string
}

// tmpMark stands in the names of files that are not finished.
const tmpMark = ".tmp-"

// Create creates a file whose temporary name begins otherwise than its own.
func Create(dir *os.Root, name, begin string) (*File, error) {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	tmp := fmt.Sprintf("%s%s%d-%s", begin, tmpMark, os.Getpid(), hex.EncodeToString(tag[:]))
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{f, dir, name, tmp}, nil
}

// Stamp looks at the file.
func (f *File) Stamp() folder.Stamp { return folder.StampOfFile(f.File) }

// Commit writes the file and puts it in place; sync has it survive a crash of
// the machine. The stamp is that of the file before it got its name.
func (f *File) Commit(text []byte, sync bool) (folder.Stamp, error) {
	_, err := f.Write(text)
	if err == nil && sync {
		err = f.Sync()
	}
	written := f.Stamp()
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = f.Dir.Rename(f.tmp, f.name)
	}
	if err != nil {
		f.Dir.Remove(f.tmp)
	}
	return written, err
}

// Discard gives the file up.
func (f *File) Discard() {
	f.Close()
	f.Dir.Remove(f.tmp)
}

// Leftovers lists the temporary files in a directory whose names begin so.
func Leftovers(dir *os.Root, begin string) (list []string) {
	file, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer file.Close()
	names, _ := file.Readdirnames(-1)
	for _, name := range names {
		if base, _, found := strings.Cut(name, tmpMark); found && base != "" && strings.HasPrefix(name, begin) {
			list = append(list, name)
		}
	}
	return list
}
