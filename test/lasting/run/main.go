//go:build linux

// Command run calls servers many times while faults disturb them (package lasting). It appends the figures to a file.
//
//	go run ./test/lasting/run -calls 100000 -seed 7 -over http
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"mcp-bash/test/checkout"
	"mcp-bash/test/lasting"
)

func main() {
	c := lasting.Config{Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	flag.StringVar(&c.Server, "server", "", "`program`; without it, mcp-bash is built")
	flag.StringVar(&c.Over, "over", "", "`transport`, stdio or http; without it, each has half of the calls")
	flag.Uint64Var(&c.Seed, "seed", 1, "`number` that decides the calls and the faults")
	flag.IntVar(&c.Calls, "calls", 10_000, "`number` of calls")
	flag.StringVar(&c.Keep, "keep", os.TempDir(), "`folder` for the history of a run that failed")
	runs := flag.String("runs", "", "`file` to which the figures are appended")
	commit := flag.String("commit", "", "`commit` of the program")
	flag.Parse()
	if err := run(c, *runs, *commit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(c lasting.Config, runs, commit string) error {
	dir, err := os.MkdirTemp("", "lasting.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if c.Server == "" {
		for _, name := range lasting.Programs {
			if err := checkout.Build(dir+"/bin", "mcp-bash/cmd/"+name); err != nil {
				return err
			}
		}
		c.Server = dir + "/bin/mcp-bash"
	}
	if commit == "" {
		text, _ := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
		commit = strings.TrimSpace(string(text))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pieces := []lasting.Config{c}
	if c.Over == "" {
		c.Calls /= 2
		pieces = []lasting.Config{c, c}
		pieces[0].Over, pieces[1].Over = "stdio", "http"
	}
	for _, c := range pieces {
		if err := piece(ctx, c, dir, runs, commit); err != nil {
			return err
		}
	}
	return nil
}

// piece makes one run and appends its figures, also if it failed.
func piece(ctx context.Context, c lasting.Config, dir, runs, commit string) error {
	c.Dir = dir + "/" + c.Over
	if err := os.Mkdir(c.Dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(c.Dir)
	figures, failed := lasting.Run(ctx, c)
	if figures == nil {
		return failed
	}
	figures.Commit = commit
	line, err := json.Marshal(figures)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", line)
	if runs != "" {
		f, err := os.OpenFile(runs, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if failed != nil {
		return fmt.Errorf("%s, seed %d, %d calls: %w", c.Over, c.Seed, c.Calls, failed)
	}
	return nil
}
