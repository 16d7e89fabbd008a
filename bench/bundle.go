package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// packer is the official tool for bundles.
const packer = "@anthropic-ai/mcpb@2.1.2"

// bundle measures the time to create a bundle of a project of 10 MB, with all checks and the first
// start. The floor reads the same files and compresses them once, by the standard library on one
// processor. The official tool packs them without checks.
func (b *bench) bundle() error {
	b.report.title("a bundle of 10 MB and the server (floor: read the files, compress them once)")
	dir := filepath.Join(scratch, "bundle")
	project, unpacked := filepath.Join(dir, "project"), filepath.Join(dir, "unpacked")
	if err := makeBundleProject(project); err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	make := func() error {
		return quiet(project, b.bin("mcp-bundle"), "bundle", "--output", out, "--arch", hostArch, "--platform",
			hostPlatform)
	}
	if err := make(); err != nil {
		return err
	}
	if err := quiet(dir, b.bin("mcp-bundle"), "unpack", filepath.Join(out, "bench-1.0.0.mcpb"), unpacked); err != nil {
		return err
	}
	names := []string{ours, floor}
	tasks := []task{timed(1, make), timed(1,
		func() error { return zipOnce(unpacked, filepath.Join(dir, "floor.zip")) })}
	if official, err := installPacker(); err != nil {
		b.report.leaveOut("mcpb pack", err.Error())
	} else {
		names = append(names, "mcpb")
		tasks = append(tasks, timed(1, func() error {
			return quiet(dir, official[0], append(official[1:], "pack", unpacked,
				filepath.Join(dir, "official.mcpb"))...)
		}))
	}
	all, err := rounds(max(3, b.rounds(9)), 1, tasks)
	if err != nil {
		return err
	}
	f := newFigure("bundle of 10 MB", "", "ms")
	for i, name := range names {
		f.add(name, all[i][0])
	}
	f.atMost(floor, 1.5)
	f.atMost("mcpb", 0.5)
	b.report.put(f)
	return nil
}

// makeBundleProject makes a project with 10 MB of texts and of what does not compress.
func makeBundleProject(dir string) error {
	lot := rand.New(rand.NewPCG(1, 2))
	files := map[string][]byte{
		"server.d/server.meta.json": []byte(`{"name":"bench","version":"1.0.0","author":"Bench"}`),
		"mcpb.conf":                 []byte("MCPB_INCLUDE=data\n"),
	}
	for i := range 10 {
		tool := fmt.Sprintf("tools/tool-%d/", i)
		files[tool+"tool.sh"] = []byte(shebang + "echo\n")
		files[tool+"tool.meta.json"] = []byte(fmt.Sprintf(`{"name":"tool-%d","description":"One of ten"}`, i))
	}
	for i := range 80 {
		content := make([]byte, 128<<10)
		for at := range content {
			if content[at] = byte(lot.Uint32()); i%2 == 0 {
				content[at] = "etaoin shrdlu\n"[lot.IntN(14)]
			}
		}
		files[fmt.Sprintf("data/%02d", i)] = content
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// quiet runs a program that is to print nothing here.
func quiet(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, out)
	}
	return nil
}

// zipOnce is the floor.
func zipOnce(dir, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	archive := zip.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		w, err := archive.Create(strings.TrimPrefix(path, dir+string(filepath.Separator)))
		if err == nil {
			_, err = io.Copy(w, in)
		}
		return err
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

// installPacker returns the command of the official tool.
func installPacker() ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Join(".cache", "mcpb"))
	if err != nil {
		return nil, err
	}
	if cache := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(cache) {
		dir = filepath.Join(cache, "mcp-bash-bench", "mcpb")
	}
	program := filepath.Join(dir, "node_modules", ".bin", "mcpb")
	if _, err := os.Stat(program); err != nil {
		if err := npm(dir, packer); err != nil {
			return nil, err
		}
	}
	return []string{node, program}, nil
}

// The system the bundle is for, in the words of bundles.
var (
	hostArch     = runtime.GOARCH
	hostPlatform = map[string]string{"windows": "win32"}[runtime.GOOS]
)

func init() {
	if hostPlatform == "" {
		hostPlatform = runtime.GOOS
	}
}
