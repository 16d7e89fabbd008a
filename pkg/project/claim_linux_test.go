package project

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// P-308: the claim of a directory is the last file that is removed, so the next start continues a removal whose process
// was killed.
func TestRemoveClaimLast(t *testing.T) {
	d, err := makeTempDir(filepath.Join(t.TempDir(), "mcpbash.state.1"))
	if err != nil {
		t.Fatal(err)
	}
	const files = 200
	for i := range files {
		if err := d.root.WriteFile(strconv.Itoa(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, d.Path, unix.IN_DELETE); err != nil {
		t.Fatal(err)
	}
	d.Remove()
	var removed []string
	buffer := make([]byte, 64<<10)
	for len(removed) <= files {
		n, err := unix.Read(watch, buffer)
		if err != nil {
			t.Fatal(err)
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
			name := rest[unix.SizeofInotifyEvent:][:event.Len]
			if event.Mask&unix.IN_DELETE != 0 {
				removed = append(removed, string(bytes.TrimRight(name, "\x00")))
			}
			rest = rest[unix.SizeofInotifyEvent+len(name):]
		}
	}
	if last := removed[files]; last != claimFile {
		t.Errorf("%s was removed last", last)
	}
}
