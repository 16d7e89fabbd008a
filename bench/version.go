package main

import (
	"os"
	"path/filepath"
)

// version measures --version of each command: the start of the process and of its linked packages. The floor is
// a Go program that prints a line.
func (b *bench) version() error {
	b.report.title("--version (floor: a program that prints a line)")
	dir, err := productDir()
	if err != nil {
		return err
	}
	commands, err := os.ReadDir(filepath.Join(dir, "cmd"))
	if err != nil {
		return err
	}
	tasks := []task{wholeOf(program{floor, []string{b.bin("hello")}, environment()})}
	for _, c := range commands {
		tasks = append(tasks, wholeOf(program{c.Name(), []string{b.bin(c.Name()), "--version"}, environment()}))
	}
	all, err := rounds(b.rounds(200), 5, tasks)
	if err != nil {
		return err
	}
	for i, c := range commands {
		f := newFigure(c.Name()+" --version", "", "ms")
		f.add(floor, all[0][0])
		f.add(ours, all[i+1][0])
		f.atMost(floor, 2)
		b.report.put(f)
	}
	return nil
}
