package capacity

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// The limits of a process's control groups, and of those above them, in both versions. The smallest one counts.
func TestGroups(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  groupLimits
	}{
		"none": {nil, groupLimits{}},
		"version 2": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/demo.service\n",
			"sys/fs/cgroup/system.slice/demo.service/memory.max": "1073741824\n",
			"sys/fs/cgroup/system.slice/demo.service/pids.max":   "512\n",
			"sys/fs/cgroup/system.slice/memory.max":              "max\n",
			"sys/fs/cgroup/system.slice/pids.max":                "max\n",
		}, groupLimits{1 << 30, 512}},
		"a smaller limit above": {map[string]string{
			"proc/self/cgroup":             "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "2000000000\n",
			"sys/fs/cgroup/a/memory.max":   "1000000000\n",
		}, groupLimits{1e9, 0}},
		"a namespace": {map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "536870912\n",
			"sys/fs/cgroup/pids.max":   "4096\n",
		}, groupLimits{512 << 20, 4096}},
		"version 1, of which a container sees only its own part": {map[string]string{
			"proc/self/cgroup":                           "12:pids:/d/abc\n4:cpu,memory:/d/abc\n1:name=systemd:/x\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
			"sys/fs/cgroup/pids/pids.max":                "100\n",
		}, groupLimits{256 << 20, 100}},
		"version 1 without limits": {map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n3:pids:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/pids/pids.max":                "max\n",
		}, groupLimits{}},
		"unusable texts": {map[string]string{
			"proc/self/cgroup":         "\n:\n0:\n0::/../../x\nmemory\n",
			"sys/fs/cgroup/memory.max": "-1\n",
			"sys/fs/cgroup/pids.max":   "99999999999999999999\n",
		}, groupLimits{}},
	} {
		dir := t.TempDir()
		for file, text := range tc.files {
			file = filepath.Join(dir, filepath.FromSlash(file))
			os.MkdirAll(filepath.Dir(file), 0o755)
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := readGroups(os.DirFS(dir)); got != tc.want {
			t.Errorf("%s: %+v, not %+v", name, got, tc.want)
		}
	}
}

// Any text of the kernel is read without a failure, and no limit is negative.
func FuzzGroups(f *testing.F) {
	f.Add("0::/a/b\n", "max\n", "100\n")
	f.Add("4:cpu,memory:/docker/abc\n", "9223372036854771712\n", "-1")
	f.Fuzz(func(t *testing.T, groups, memory, processes string) {
		root := fstest.MapFS{}
		for name, text := range map[string]string{
			"proc/self/cgroup": groups, "sys/fs/cgroup/memory.max": memory, "sys/fs/cgroup/pids.max": processes,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": memory, "sys/fs/cgroup/pids/pids.max": processes,
		} {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := readGroups(root); got.memory < 0 || got.processes < 0 {
			t.Errorf("%+v", got)
		}
	})
}

// The parts are all of the files, and each has some.
func TestParts(t *testing.T) {
	for _, files := range []int{0, 64, 100, 256, 1000, 1024, 65536, 1 << 30} {
		p := PartsOf(files)
		all := p.Running + 2*p.Waiting + p.Left + p.Results + p.Sockets
		if files > 0 && (all > files-min(64, files/8) || all < files-64) {
			t.Errorf("%d of %d files: %+v", all, files, p)
		}
		if min(p.Running, p.Waiting, p.Left, p.Results, p.Sockets) <= 0 {
			t.Errorf("%d files: %+v", files, p)
		}
	}
}

// This system has space for temporary files.
func TestSpace(t *testing.T) {
	dir := t.TempDir()
	if got := Read(dir); got.Temp.Dir != dir || got.Temp.Free <= 0 || got.Memory < 0 || got.Processes < 0 {
		t.Errorf("%+v", got)
	}
	if got := spaceOf(filepath.Join(dir, "none")); got.Free != 0 {
		t.Errorf("%+v", got)
	}
}

func TestLeast(t *testing.T) {
	for _, tc := range [][3]int{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {3, 5, 3}, {5, 3, 3}} {
		if got := least(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%v: %d", tc, got)
		}
	}
}
