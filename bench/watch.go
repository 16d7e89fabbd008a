package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// watched is how many files are subscribed to.
const watched = 500

// watch measures what it costs our server to look after subscriptions while
// nothing happens, at the default interval. The floor is the same server, at
// the same time, without subscriptions.
func (b *bench) watch() error {
	b.report.title("subscriptions (floor: the same without any)")
	if _, err := runTime(os.Getpid()); err == errNoProc {
		b.report.leaveOut("watch", err.Error())
		return nil
	}
	root := project("watched")
	w := &writer{}
	w.file(filepath.Join(root, "server.d", "server.meta.json"), `{"name":"bench","version":"1.0.0"}`+"\n", 0o644)
	for i := range watched {
		w.file(filepath.Join(root, "resources", fmt.Sprintf("%03d.txt", i)), prose(2000), 0o644)
	}
	if w.err != nil {
		return w.err
	}
	idle := b.serving(root)
	idle.name = floor
	guests, err := gather([]program{b.serving(root), idle})
	if err != nil {
		return err
	}
	defer guests.end()
	us := guests[0]
	for i := range watched {
		if _, err := us.ask("resources/subscribe", fmt.Sprintf(`{"uri":"file://%s/resources/%03d.txt"}`, root,
			i)); err != nil {
			return err
		}
	}
	span := 10 * time.Second
	if b.quick {
		span = 4 * time.Second // two rounds
	}
	b.rest()
	var tasks [2]sample
	for range max(1, b.rounds(5)/2) {
		shares, err := runShares(guests, span)
		if err != nil {
			return err
		}
		for i, s := range shares {
			tasks[i] = append(tasks[i], 100*s)
		}
	}
	f := newFigure(fmt.Sprintf("share of a core, %d subscriptions", watched), "", "%")
	f.add(ours, tasks[0])
	f.add(floor, tasks[1])
	f.absolute(1)
	b.report.put(f)
	return us.reportsChange(filepath.Join(root, "resources", "123.txt"))
}

// runShares returns how much of a core each server uses in a span of time.
func runShares(all serverList, span time.Duration) ([]float64, error) {
	shares := make([]float64, len(all))
	look := func(sign float64) error {
		for i, s := range all {
			t, err := runTime(s.process.Pid)
			if err != nil {
				return err
			}
			shares[i] += sign * t.Seconds() / span.Seconds()
		}
		return nil
	}
	if err := look(-1); err != nil {
		return nil, err
	}
	time.Sleep(span)
	return shares, look(1)
}

// reportsChange changes a file and checks that the server reports it. A server that never reports changes would
// otherwise look good.
func (s *server) reportsChange(file string) error {
	if err := os.WriteFile(file, []byte("something else\n"), 0o644); err != nil {
		return err
	}
	for {
		line, err := s.line()
		if err != nil {
			return err
		}
		if bytes.Contains(line, []byte("notifications/resources/updated")) && bytes.Contains(line, []byte(file)) {
			return nil
		}
	}
}
