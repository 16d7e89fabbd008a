package main

import "fmt"

// ping measures requests that cost a server nothing but the talk. The floor
// answers every line with the same line and does not look at it.
func (b *bench) ping() error {
	b.report.title("ping (floor: lines answered unread)")
	guests, err := gather(b.all(10))
	if err != nil {
		return err
	}
	defer guests.end()
	wire, err := start(b.wire()) // it would answer a notification too: no handshake
	if err != nil {
		return err
	}
	defer wire.end()
	var questions []*question
	for _, s := range append(serverList{wire}, guests...) {
		q, err := s.prepare("ping", "", `"result":{`)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		questions = append(questions, q)
	}

	var tasks []task
	for _, q := range questions {
		tasks = append(tasks, timed(20, q.again))
	}
	all, err := rounds(b.rounds(400), 5, tasks)
	if err != nil {
		return err
	}
	f := newFigure("ping, round trip", "", "ms")
	f.add(floor, all[0][0])
	for i, s := range guests {
		f.add(s.name, all[i+1][0])
	}
	f.atMost(floor, 2)
	f.atMost("go-sdk", 0.5)
	b.report.put(f)

	tasks = nil
	for _, q := range questions {
		tasks = append(tasks, rated(b.rounds(10000), q.pour))
	}
	if all, err = rounds(b.rounds(12), 2, tasks); err != nil {
		return err
	}
	f = newFigure("pings, all sent at once", "", "/s")
	f.add(floor, all[0][0])
	for i, s := range guests {
		f.add(s.name, all[i+1][0])
	}
	f.atLeast(f.bestOther(), 4)
	f.against(floor, "", nil)
	b.report.put(f)
	return nil
}
