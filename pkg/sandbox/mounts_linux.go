package sandbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
)

// statusOf looks up a path. It does not follow a link at the end of the path.
func statusOf(path string) (s fileStatus) {
	var st unix.Stat_t
	if s.err = unix.Lstat(path, &st); s.err != nil {
		return s
	}
	s.id = fileID{st.Dev, st.Ino}
	s.mode = fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		s.mode |= fs.ModeDir
	case unix.S_IFLNK:
		s.mode |= fs.ModeSymlink
		s.link, s.err = os.Readlink(path)
	default:
		s.mode |= fs.ModeIrregular
	}
	return s
}

// A mount shows a folder of a file system, or a file, at a path.
type mount struct {
	device string // of the file system
	shown  string // the folder of the file system
	point  string // the mount point
	kind   string // of the file system
}

// A mountTable contains the mounts of this process in the order of mounting.
type mountTable []mount

func readMounts() (mountTable, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("mounts: %w", err)
	}
	return parseMounts(text), nil
}

// parseMounts reads the text of /proc/self/mountinfo (proc_pid_mountinfo(5)). It skips unknown lines.
func parseMounts(text []byte) (list mountTable) {
	for line := range bytes.Lines(text) {
		const device, shown, point = 2, 3, 4
		fields := bytes.Fields(line)
		if len(fields) <= point {
			continue
		}
		m := mount{device: string(fields[device]), shown: unescape(fields[shown]), point: unescape(fields[point])}
		if _, after, ok := bytes.Cut(line, []byte(" - ")); ok {
			kind, _, _ := bytes.Cut(after, []byte(" "))
			m.kind = string(kind)
		}
		list = append(list, m)
	}
	return list
}

// controls returns the mount points of file systems that control the kernel instead of storing files. processes are the
// mount points of file systems that control processes.
func (t mountTable) controls() (all, processes []string) {
	for i := range t {
		switch t[i].kind {
		case "proc", "cgroup", "cgroup2", "cpuset", "resctrl":
			all, processes = append(all, t[i].point), append(processes, t[i].point)
		case "sysfs", "debugfs", "tracefs", "securityfs", "configfs", "bpf", "pstore", "efivarfs", "selinuxfs", "smackfs",
			"binfmt_misc", "fusectl":
			all = append(all, t[i].point)
		}
	}
	return all, processes
}

// escapes are the octal escapes that the kernel writes for white space and backslashes.
var escapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func unescape(field []byte) string { return escapes.Replace(string(field)) }

// aliases returns the other paths of a file or folder, or of a part of it, given a path without links. A
// bind mount is such another path.
func (t mountTable) aliases(path string) (list []string) {
	at := -1
	for i := range t {
		if fsys.Within(t[i].point, path) && (at < 0 || len(t[i].point) >= len(t[at].point)) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	here := filepath.Join(t[at].shown, strings.TrimPrefix(path, t[at].point))
	for i := range t {
		alias := ""
		switch m := &t[i]; {
		case i == at || m.device != t[at].device:
			continue
		case fsys.Within(here, m.shown): // a part
			alias = m.point
		case fsys.Within(m.shown, here):
			alias = filepath.Join(m.point, strings.TrimPrefix(here, m.shown))
		}
		if alias != "" && alias != path {
			list = append(list, alias)
		}
	}
	return list
}

// refusal returns the access to a path that a domain refuses.
func (h *Confinement) refusal(path string) Refusal {
	rules, err := h.sandbox.Kernel().Rules(h.Profile)
	if err != nil {
		return NotRefused
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil &&
			rules.Refuses(confine.MayChange, filepath.Join(real, filepath.Base(path))) {
			return UseRefused
		}
		return NotRefused
	}
	info, err := os.Stat(real)
	if err != nil {
		return NotRefused
	}
	head, _ := boundedfile.ReadHead(real, 8)
	uses := []confine.Need{confine.MayRead, confine.MayWrite, confine.MayChange}
	refuses := func(need confine.Need) bool { return rules.Refuses(need, real) }
	switch {
	case info.IsDir():
		uses = []confine.Need{confine.MayList, confine.MayChange}
	case !refuses(confine.MayRead) && script.IsDormant(info.Mode(), head):
		return NotRefused
	}
	switch {
	case info.Mode().IsRegular() && info.Mode()&0o111 != 0 && refuses(confine.MayStart):
		return StartRefused
	case info.Mode()&(fs.ModeSocket|fs.ModeCharDevice) == 0 && slices.ContainsFunc(uses, refuses):
		return UseRefused
	}
	return NotRefused
}
