package registry

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// A newFile becomes a file of the directory when it is complete.
type newFile struct {
	*os.File
	dir       *os.Root
	name, tmp string
}

// tmpMark stands in the names of files that are not finished.
const tmpMark = ".tmp-"

// createFile creates a file whose temporary name begins otherwise than its own.
func createFile(dir *os.Root, name, begin string) (*newFile, error) {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	tmp := fmt.Sprintf("%s%s%d-%s", begin, tmpMark, os.Getpid(), hex.EncodeToString(tag[:]))
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &newFile{f, dir, name, tmp}, nil
}

// stamp looks at the file.
func (f *newFile) stamp() stamp { return stampOfFile(f.File) }

// finish writes the file and puts it in place; sync has it survive a crash of
// the machine. The stamp is that of the file before it got its name.
func (f *newFile) finish(text []byte, sync bool) (stamp, error) {
	_, err := f.Write(text)
	if err == nil && sync {
		err = f.Sync()
	}
	written := f.stamp()
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = f.dir.Rename(f.tmp, f.name)
	}
	if err != nil {
		f.dir.Remove(f.tmp)
	}
	return written, err
}

// discard gives the file up.
func (f *newFile) discard() {
	f.Close()
	f.dir.Remove(f.tmp)
}

// leftovers lists the temporary files in a directory whose names begin so.
func leftovers(dir *os.Root, begin string) (list []string) {
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
