//go:build linux

package endurance

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A fault disturbs a running server. It undoes its changes to the project.
type fault func(h *house, r *rand.Rand)

var faults = []fault{killScript, killScript, losePrivateDirectory, loseSDK, loseRegistry, pipeFor, pipeFor, openToAll,
	plant, plant}

// killScript kills one process of a script.
func killScript(h *house, r *rand.Rand) {
	pids := h.processes()
	if len(pids) == 0 {
		return
	}
	pid, _ := strconv.Atoi(pids[r.IntN(len(pids))])
	if name, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); name != h.binary {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (h *house) privateDirectories() []string {
	list, _ := filepath.Glob(filepath.Join(h.tmp, "mcpbash.state.*"))
	return list
}

// losePrivateDirectory removes what the server and its scripts share.
func losePrivateDirectory(h *house, r *rand.Rand) {
	if r.IntN(4) > 0 {
		return
	}
	for _, dir := range h.privateDirectories() {
		os.RemoveAll(dir)
	}
}

// loseSDK removes what scripts load.
func loseSDK(h *house, r *rand.Rand) {
	if r.IntN(4) > 0 {
		return
	}
	list, _ := filepath.Glob(filepath.Join(h.cache, "mcp-bash", "*"))
	for _, dir := range list {
		os.RemoveAll(dir)
	}
}

// loseRegistry removes the registry files, or puts leftovers and pipes there.
func loseRegistry(h *house, r *rand.Rand) {
	dir := filepath.Join(h.project, ".registry")
	switch r.IntN(3) {
	case 0:
		os.RemoveAll(dir)
	case 1:
		os.WriteFile(filepath.Join(dir, "tools.json.tmp-"+strconv.Itoa(r.IntN(100))), []byte("{"), 0o600)
	case 2:
		file := filepath.Join(dir, "tools.json")
		os.Remove(file)
		syscall.Mkfifo(file, 0o600)
	}
}

// pipeFor puts a pipe, an endless file or a link out in the place of a file of
// the project, for a moment.
func pipeFor(h *house, r *rand.Rand) {
	file := filepath.Join(h.project, []string{
		"server.d/policy.sh", "tools/calm/tool.meta.json", "tools/calm/tool.sh", "prompts/greeting.txt",
		"prompts/greeting.meta.json", "resources/notes.txt", "resources/notes.meta.json", "server.d/register.json",
	}[r.IntN(8)])
	aside := file + ".aside"
	was := os.Rename(file, aside) == nil
	switch r.IntN(3) {
	case 0:
		syscall.Mkfifo(file, 0o600)
	case 1:
		os.Symlink("/dev/zero", file)
	case 2:
		os.Symlink("/etc/passwd", file)
	}
	time.Sleep(time.Duration(20+r.IntN(150)) * time.Millisecond) // the fault lasts that long
	os.Remove(file)
	if was {
		os.Rename(aside, file)
	}
}

// openToAll lets everybody write to a folder of the project, for a moment.
func openToAll(h *house, r *rand.Rand) {
	dir := filepath.Join(h.project, []string{"tools", "tools/calm", "prompts", "server.d", "."}[r.IntN(5)])
	os.Chmod(dir, 0o777)
	time.Sleep(time.Duration(20+r.IntN(100)) * time.Millisecond) // the fault lasts that long
	os.Chmod(dir, 0o755)
}

// plant puts what makes a reader wait under the names of hand-off files.
func plant(h *house, r *rand.Rand) {
	for _, dir := range h.privateDirectories() {
		calls, _ := filepath.Glob(filepath.Join(dir, "call.*"))
		for _, call := range calls {
			name := filepath.Join(call, []string{"cancelled", "elicit.request", "elicit.response", "error.json",
				"input/batch.request"}[r.IntN(5)])
			os.Remove(name)
			syscall.Mkfifo(name, 0o600)
		}
	}
}
