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
	registry := filepath.Join(root, ".registry")
	refresh := program{"mcp-registry", []string{b.bin("mcp-registry"), "refresh", "--project-root", root},
		environment()}
	check := program{"floor-check", []string{b.bin("floor"), "check", dir, filepath.Join(scratch, "all.json")},
		environment()}
	stat := program{"floor-stat", []string{b.bin("floor"), "stat", dir}, environment()}

	// All in one loop: cold, then the floor of it, then unchanged, then its
	// floor. They depend on each other, so their order stays.
	const cold, coldFloor, unchanged, unchangedFloor = 0, 1, 2, 3
	all, err := rounds(b.rounds(12), 1, []task{func() ([]float64, error) {
		if err := os.RemoveAll(registry); err != nil {
			return nil, err
		}
		values := make([]float64, 4)
		var err error
		if values[cold], err = whole(refresh); err != nil {
			return nil, err
		}
		if values[coldFloor], err = whole(check); err != nil {
			return nil, err
		}
		// What was written in the moment of a look cannot be told from what was
		// written just after it, so the first look after that confirms it.
		if _, err := whole(refresh); err != nil {
			return nil, err
		}
		for range 3 {
			took, err := whole(refresh)
			if err != nil {
				return nil, err
			}
			values[unchanged] += took / 3
			if took, err = whole(stat); err != nil {
				return nil, err
			}
			values[unchangedFloor] += took / 3
		}
		return values, nil
	}})
	if err != nil {
		return err
	}
	s := all[0]
	f := newFigure("refresh of "+what+", cold", "read, check, write", "ms")
	f.add(ours, s[cold])
	f.add(floor, s[coldFloor])
	f.atMost(floor, 2)
	b.report.put(f)

	f = newFigure("refresh of "+what+", nothing changed", "walk and stat", "ms")
	f.add(ours, s[unchanged])
	f.add(floor, s[unchangedFloor])
	f.atMost(floor, 2)
	f.claim("÷ cold", s[unchanged], s[cold], ratio, "≤ 0.5", func(v float64) bool { return v <= 0.5 })
	b.report.put(f)
	return nil
}

// whole runs a program to its end and returns how long that took.
func whole(p program) (float64, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	began := time.Now()
	process, err := launch(p, null, null)
	if err != nil {
		return 0, err
	}
	err = wait(process, p.name)
	if err != nil {
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	return milliseconds(time.Since(began)), err
}
