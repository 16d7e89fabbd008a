package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// start measures how long a client waits for the handshake and for the list of ten tools, from the start of
// the process. It also measures the time from the end of the input to the end of the process. The
// floor is a Go program that does nothing else.
func (b *bench) start() error {
	b.report.title("start and end, 10 tools (floor: a Go program that answers lines unread)")
	programs := append([]program{b.wire()}, b.all(10)...)
	lone, err := b.lone()
	if err != nil {
		return err
	}
	programs = append(programs, lone)
	var tasks []task
	for _, p := range programs {
		tasks = append(tasks, life(p, p.name != floor))
	}
	all, err := rounds(b.rounds(60), 3, tasks)
	if err != nil {
		return err
	}
	figures := []*figure{
		newFigure("start to initialize", "", "ms"),
		newFigure("start to initialize, binary alone", "", "ms"),
		newFigure("end of input to exit", "", "ms"),
		newFigure("start to tools/list", "", "ms"),
	}
	const initialize, alone, exit, list = 0, 1, 2, 3
	for i, p := range programs {
		if p.name == lone.name {
			figures[alone].add(ours, all[i][0])
			continue
		}
		figures[initialize].add(p.name, all[i][0])
		figures[exit].add(p.name, all[i][1])
		if p.name != ours && p.name != before {
			figures[alone].add(p.name, all[i][0])
		}
		if len(all[i]) > 2 {
			figures[list].add(p.name, all[i][2])
		}
	}
	figures[initialize].atMost("go-sdk", 0.75)
	figures[alone].atMost("go-sdk", 0.75)
	figures[list].atMost("go-sdk", 0.9)
	figures[exit].atMost("go-sdk", 2)
	for _, i := range []int{initialize, alone, list, exit} {
		figures[i].against(floor, "", nil)
		b.report.put(figures[i])
	}
	return nil
}

// lone returns our server without an installation around it. It uses the copy of the SDK in the binary, and
// checks the unpacked files at each start.
func (b *bench) lone() (program, error) {
	p := b.serving(project("10"))
	file := filepath.Join(scratch, "lone", "mcp-bash")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return p, err
	}
	if err := os.Link(p.argv[0], file); err != nil && !os.IsExist(err) {
		return p, err
	}
	p.argv, p.name = []string{file}, "alone"
	return p, nil
}

// life is the task of being started, asked a little, and ended.
func life(p program, lists bool) task {
	return func() ([]float64, error) {
		began := time.Now()
		s, err := start(p)
		if err != nil {
			return nil, err
		}
		if _, err := s.ask("initialize", initialize); err != nil {
			s.kill()
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		values := []float64{milliseconds(time.Since(began)), 0}
		if lists {
			err := s.notify("notifications/initialized")
			if err == nil {
				_, err = s.ask("tools/list", "")
			}
			if err != nil {
				s.kill()
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			values = append(values, milliseconds(time.Since(began)))
		}
		ended := time.Now()
		if err := s.end(); err != nil {
			return nil, err
		}
		values[1] = milliseconds(time.Since(ended))
		return values, nil
	}
}
