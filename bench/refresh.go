package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// refresh measures mcp-registry refresh of 10,000 tools, and of 10,000 items of
// all kinds, the whole process: without any cache, and when nothing has
// changed.
func (b *bench) refresh() error {
	n := b.many()
	root, err := makeProject(n)
	if err != nil {
		return err
	}
	b.report.title(fmt.Sprintf("mcp-registry refresh, %d tools", n))
	if err := b.refreshOne("tools", root, filepath.Join(root, "tools")); err != nil {
		return err
	}
	m := mixOf(n)
	if root, err = m.make("mixed"); err != nil {
		return err
	}
	b.report.title(fmt.Sprintf("mcp-registry refresh, %d mixed items: %s", n, m))
	return b.refreshOne("all kinds", root, root)
}

// refreshOne measures the refresh of one project, whose items lie below dir.
func (b *bench) refreshOne(what, root, dir string) error {
	check := program{"floor-check", []string{b.bin("floor"), "check", dir, filepath.Join(scratch, "all.json")},
		environment()}
	stat := program{"floor-stat", []string{b.bin("floor"), "stat", dir}, environment()}
	columns := []string{floor}
	tasks := []task{coldAndUnchanged(func() error { return nil }, check, stat, 0)}
	for _, server := range b.versions(root) {
		refresh := program{server.name + "-registry", []string{
			filepath.Join(filepath.Dir(server.argv[0]), "mcp-registry"), "refresh", "--project-root", root}, environment()}
		columns = append(columns, server.name)
		// A scan cannot distinguish a change during the scan from a later one. So the next scan reads again, and is not
		// counted.
		tasks = append(tasks, coldAndUnchanged(func() error { return os.RemoveAll(filepath.Join(root, ".registry")) },
			refresh, refresh, 1))
	}
	all, err := rounds(b.rounds(12), 1, tasks)
	if err != nil {
		return err
	}
	const cold, unchanged = 0, 1
	f := newFigure("refresh of "+what+", cold", "read, check, write", "ms")
	for i, column := range columns {
		f.add(column, all[i][cold])
	}
	f.atMost(floor, 2)
	b.report.put(f)

	f = newFigure("refresh of "+what+", nothing changed", "walk and stat", "ms")
	for i, column := range columns {
		f.add(column, all[i][unchanged])
	}
	f.atMost(floor, 2)
	f.claim("÷ cold", all[1][unchanged], all[1][cold], ratio, "≤ 0.5", func(v float64) bool { return v <= 0.5 })
	b.report.put(f)
	return nil
}

// coldAndUnchanged returns a task with three steps: it forgets all results, scans, and scans again after some
// scans that do not count. It measures the second and the third step.
func coldAndUnchanged(forget func() error, first, again program, uncounted int) task {
	return func() ([]float64, error) {
		if err := forget(); err != nil {
			return nil, err
		}
		cold, err := whole(first)
		if err != nil {
			return nil, err
		}
		for range uncounted {
			if _, err := whole(again); err != nil {
				return nil, err
			}
		}
		unchanged := 0.0
		for range 3 {
			took, err := whole(again)
			if err != nil {
				return nil, err
			}
			unchanged += took / 3
		}
		return []float64{cold, unchanged}, nil
	}
}

// whole runs a program to its end and returns how long that took.
func whole(p program) (float64, error) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // our commands take one that can be read for a closed one
	if err != nil {
		return 0, err
	}
	defer out.Close()
	began := time.Now()
	process, err := launch(p, in, out)
	if err != nil {
		return 0, err
	}
	err = wait(process, p.name)
	if err != nil {
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	return milliseconds(time.Since(began)), err
}
