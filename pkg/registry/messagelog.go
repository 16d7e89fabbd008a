package registry

import (
	"sync"

	"mcp-bash/pkg/registry/item"
)

// A messageLog logs each message about a topic once for as long as it holds, not each
// time the topic is checked.
type messageLog struct {
	log    func(logger string, m item.Message)
	mu     sync.Mutex
	logged map[string]map[item.Message]bool // by topic
}

// report logs what is new among the messages that hold for a topic now.
func (j *messageLog) report(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(item.Message) bool { return false })
}

// reportFound is like report, but leaves out what another topic has logged: kinds that
// scan the same directory report the same faults of its files.
func (j *messageLog) reportFound(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(m item.Message) bool {
		for other, said := range j.logged {
			if other != topic && said[m] {
				return true
			}
		}
		return false
	})
}

func (j *messageLog) add(topic, logger string, now []item.Message, known func(item.Message) bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.logged[topic]
	if len(now) == 0 && before == nil {
		return
	}
	said := make(map[item.Message]bool, len(now))
	for _, m := range now {
		if !before[m] && !said[m] && !known(m) {
			j.log(logger, m)
		}
		said[m] = true
	}
	if j.logged == nil {
		j.logged = make(map[string]map[item.Message]bool)
	}
	j.logged[topic] = said
}
