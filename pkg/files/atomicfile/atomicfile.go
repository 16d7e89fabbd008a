package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"mcp-bash/pkg/files/folder"
)

// temporaryMark is part of the name of a file that is not complete.
const temporaryMark = ".tmp-"

// IsTemporary reports whether a file name is one that [Write] gives to a file that is
// not complete.
func IsTemporary(name string) bool {
	base, _, found := strings.Cut(name, temporaryMark)
	return found && base != ""
}

// Write replaces a file of a directory. Readers see the old or the new text, also after
// a crash of the machine. The stamp is from before the renaming.
func Write(dir *os.Root, name string, text []byte) (folder.Stamp, error) {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	temporary := fmt.Sprintf("%s%s%d-%s", name, temporaryMark, os.Getpid(), hex.EncodeToString(tag[:]))
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return folder.Stamp{}, err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	written := folder.StampOfFile(f)
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		dir.Remove(temporary)
	}
	return written, err
}
