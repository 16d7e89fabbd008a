package registry

import (
	"sync"

	"mcp-bash/pkg/mcp"
)

// A journal logs what there is to say of a state of things, once as long as
// the state lasts, not each time somebody looks.
type journal struct {
	log  mcp.LogFunc
	mu   sync.Mutex
	said map[string]map[message]bool // by topic
}

// state says what holds now of a topic.
func (j *journal) state(topic, logger string, now []message) {
	j.say(topic, logger, now, func(message) bool { return false })
}

// found is state for what was found on the way. Kinds that walk the same
// directory find fault with the same files: what one has said the others do not
// say again.
func (j *journal) found(topic, logger string, now []message) {
	j.say(topic, logger, now, func(m message) bool {
		for other, said := range j.said {
			if other != topic && said[m] {
				return true
			}
		}
		return false
	})
}

func (j *journal) say(topic, logger string, now []message, known func(message) bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.said[topic]
	if len(now) == 0 && before == nil {
		return
	}
	said := make(map[message]bool, len(now))
	for _, m := range now {
		if !before[m] && !said[m] && !known(m) {
			j.log(m.level, logger, m.text)
		}
		said[m] = true
	}
	if j.said == nil {
		j.said = make(map[string]map[message]bool)
	}
	j.said[topic] = said
}
