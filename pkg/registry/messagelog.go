package registry

import (
	"sync"

	"mcp-bash/pkg/registry/item"
)

// A messageLog logs a message about a topic once, and again only after a check without the
// message.
type messageLog struct {
	log    func(logger string, m item.Message)
	mu     sync.Mutex
	logged map[string]map[item.Message]bool // by topic
}

// report logs the messages of a check that are new since the last check of the topic.
func (j *messageLog) report(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(item.Message) bool { return false })
}

// reportFound is like report, but leaves out messages that another topic has logged. Kinds
// that scan the same directory report the same faults of its files.
func (j *messageLog) reportFound(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(m item.Message) bool {
		for other, messages := range j.logged {
			if other != topic && messages[m] {
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
	current := make(map[item.Message]bool, len(now))
	for _, m := range now {
		if !before[m] && !current[m] && !known(m) {
			j.log(logger, m)
		}
		current[m] = true
	}
	if j.logged == nil {
		j.logged = make(map[string]map[item.Message]bool)
	}
	j.logged[topic] = current
}
