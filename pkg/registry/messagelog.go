package registry

import (
	"sync"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/registry/item"
)

// A messageLog logs what there is to say of a state of things, once as long as
// the state lasts, not each time somebody looks.
type messageLog struct {
	log    mcp.LogFunc
	mu     sync.Mutex
	logged map[string]map[item.Message]bool // by topic
}

// report says what holds now of a topic.
func (j *messageLog) report(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(item.Message) bool { return false })
}

// reportFound is state for what was found on the way. Kinds that walk the same
// directory find fault with the same files: what one has said the others do not
// say again.
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
			j.log(m.Level, logger, m.Text)
		}
		said[m] = true
	}
	if j.logged == nil {
		j.logged = make(map[string]map[item.Message]bool)
	}
	j.logged[topic] = said
}
