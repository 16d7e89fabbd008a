package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"mcp-bash/pkg/files/folder"
)

// A File is being written, and gets its name when it is complete.
type File struct {
	*os.File
	Dir       *os.Root
	name, tmp string
}

// tmpMark is part of the names of files that are not complete.
const tmpMark = ".tmp-"

// Create begins a file of a directory. begin is what its temporary name begins
// with.
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

// Stamp returns the stamp of the file as it is now.
func (f *File) Stamp() folder.Stamp { return folder.StampOfFile(f.File) }

// Commit writes the text and renames the file into its place; sync has it survive a
// crash of the machine. The stamp is that from before the renaming.
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

// Discard removes the file.
func (f *File) Discard() {
	f.Close()
	f.Dir.Remove(f.tmp)
}

// Leftovers returns the names of temporary files in a directory that begin so.
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
