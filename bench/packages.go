package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
)

// packages runs the benchmarks that lie in the product's own packages and shows
// what they print.
func (b *bench) packages() error {
	fmt.Fprintf(b.report.out, "\nbenchmarks of the packages\n")
	dir, err := productDir()
	if err != nil {
		return err
	}
	args := []string{"test", "-run", "xxx", "-bench", ".", "-benchmem"}
	if b.quick {
		args = append(args, "-benchtime", "1x", "-skip", "/10000")
	} else {
		args = append(args, "-benchtime", "0.3s")
	}
	cmd := exec.Command("go", append(args, "./pkg/...")...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "pkg: ") || strings.HasPrefix(line, "Benchmark") && strings.Contains(line, "ns/op") {
			b.report.Packages = append(b.report.Packages, line)
			fmt.Fprintln(b.report.out, "  "+line)
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test -bench: %w", err)
	}
	return lines.Err()
}
