package serve

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Files that do not change are not even opened when they are looked at (RES-145).
func TestUnchangedFilesAreNotOpened(t *testing.T) {
	list := map[string]string{"resources/other.txt": ""}
	for i := range 20 {
		list[fmt.Sprintf("resources/still/%d.txt", i)] = "x"
	}
	c := ready(t, list, often)
	for i := range 20 {
		c.subscribe(fmt.Sprintf(`{"uri":"file://%s/resources/still/%d.txt"}`, c.root, i))
	}
	other := "file://" + c.root + "/resources/other.txt"
	id := c.subscribe(`{"uri":"` + other + `"}`)
	opened := opensIn(t, filepath.Join(c.root, "resources/still"))
	opened()
	rounds := 0
	eventually(t, "a round that opens none", func() bool { // new files are read until their time can be trusted
		for range 2 { // a round may have begun before the first change, but not before the second
			rounds++
			c.put("resources/other.txt", strconv.Itoa(rounds))
			c.expect(updated(other, id))
			if rounds%2 == 1 {
				opened()
			}
		}
		return !opened()
	})
}

// opensIn returns a function that reports whether a file of a directory was opened since its last
// call.
func opensIn(t *testing.T, dir string) func() bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err == nil {
		t.Cleanup(func() { unix.Close(fd) })
		_, err = unix.InotifyAddWatch(fd, dir, unix.IN_OPEN)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() (opened bool) {
		events := make([]byte, 1<<16)
		for {
			n, err := unix.Read(fd, events)
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return opened
			}
			for rest := events[:n]; len(rest) > 0; {
				e := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
				opened = opened || e.Mask&unix.IN_ISDIR == 0
				rest = rest[unix.SizeofInotifyEvent+int(e.Len):]
			}
		}
	}
}
