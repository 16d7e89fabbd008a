package main

import (
	"fmt"
	"path/filepath"
)

// validate measures mcp-doctor validate of 1,000 tools, the whole process, without
// shellcheck. The floor reads each file once, checks that JSON is JSON, and has Bash read
// each script, on as many processors.
func (b *bench) validate() error {
	n := 1000
	if b.quick {
		n = 100
	}
	b.report.title(fmt.Sprintf(
		"mcp-doctor validate, %d tools (floor: read and check each file once, bash -n for each script)", n))
	root := filepath.Join(scratch, "validate")
	w := &writer{}
	w.file(filepath.Join(root, "server.d", "server.meta.json"), `{"name":"bench","version":"1.0.0"}`+"\n", 0o644)
	for i := range n {
		name := fmt.Sprintf("bench-tool-%d", i)
		w.tool(filepath.Join(root, "tools", name), name, scripts["greet"])
	}
	if w.err != nil {
		return w.err
	}
	programs := []program{
		{floor, []string{b.bin("floor"), "validate", root}, environment()},
		{ours, []string{b.bin("mcp-doctor"), "validate", "--no-shellcheck", "--project-root", root}, environment()},
	}
	all, err := rounds(b.rounds(20), 1, []task{wholeOf(programs[0]), wholeOf(programs[1])})
	if err != nil {
		return err
	}
	f := newFigure(fmt.Sprintf("validate %d tools", n), "", "ms")
	f.add(floor, all[0][0])
	f.add(ours, all[1][0])
	f.atMost(floor, 1.5)
	b.report.put(f)
	return nil
}

// wholeOf is the task of running a program to its end.
func wholeOf(p program) task {
	return func() ([]float64, error) {
		took, err := whole(p)
		return []float64{took}, err
	}
}
