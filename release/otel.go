package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
)

// exporter is the program that sends records to a collector. It has an archive for each system, because its libraries
// are larger than all commands together.
const exporter = "mcp-otel"

// exporterArchive returns the name of the exporter's archive for a system.
func exporterArchive(t runtimes.Target) string {
	return exporter + strings.TrimPrefix(t.Archive(runtimes.Tag), "mcp-bash")
}

// writeExporters builds the exporter for each system, and writes its archives.
func (r *release) writeExporters() error {
	host, err := r.compile(exporterModule, runtimes.Host)
	if err != nil {
		return err
	}
	manual, err := exec.Command(filepath.Join(host, exporter+exeOf(runtimes.Host)), "__manual").Output()
	if err != nil {
		return fmt.Errorf("%s __manual: %w", exporter, err)
	}
	page := filepath.Join(r.work, exporter+".1")
	if err := os.WriteFile(page, manual, 0o600); err != nil {
		return err
	}
	for _, t := range r.targets {
		dir, err := r.compile(exporterModule, t)
		if err != nil {
			return err
		}
		name := exporter + exeOf(t)
		program := filepath.Join(dir, name)
		if err := check(program, t); err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		r.exporters = append(r.exporters, tree{Target: t, programs: []string{program}})
		err = packFor(t)(r.asset(exporterArchive(t)), r.time, []entry{{name: exporter + "/"},
			{exporter + "/LICENSE", false, filepath.Join(r.root, "LICENSE")}, {exporter + "/" + name, true, program},
			{exporter + "/" + exporter + ".1", false, page}})
		if err != nil {
			return err
		}
	}
	return nil
}

func exeOf(t runtimes.Target) string { return strings.TrimPrefix(t.Binary(), "mcp-bash") }
