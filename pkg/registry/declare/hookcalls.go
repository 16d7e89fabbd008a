package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// A buffer contains the entries of one kind that register.sh registers. A new buffer accepts
// entries, as after a call of begin.
type buffer struct {
	closed   bool // by finalize or abort
	applied  bool // by finalize
	payloads [][]byte
}

func (b *buffer) call(name string, payload []byte) {
	switch name {
	case "begin":
		*b = buffer{}
	case "abort":
		*b = buffer{closed: true}
	case "register":
		if !b.closed && len(payload) > 0 {
			b.payloads = append(b.payloads, payload)
		}
	case "finalize":
		if !b.closed {
			b.closed, b.applied = true, true
		}
	}
}

// replay executes the calls that register.sh wrote to its calls file. It passes log messages
// to log.
func replay(calls []byte, log mcp.LogFunc) map[string]*buffer {
	buffers := make(map[string]*buffer)
	for kind := range declarable {
		buffers[kind.Key] = new(buffer)
	}
	texts := bytes.Split(calls, []byte{0})
	for ; len(texts) > 3; texts = texts[3:] {
		name, subject, text := string(texts[0]), string(texts[1]), texts[2]
		if level, ok := mcp.ParseLevel(name); ok {
			log(level, subject, string(text))
		} else if b := buffers[subject]; b != nil {
			b.call(name, text)
		}
	}
	return buffers
}

// listsOf returns the lists that register.sh registered or printed. Other kinds are not in
// the map.
func listsOf(d *project.Discovery, buffers map[string]*buffer, stdout []byte) map[string]*List {
	printed, err := item.ParseObject(stdout)
	if err != nil {
		printed = nil
	}
	lists := make(map[string]*List)
	for kind := range declarable {
		b := buffers[kind.Key]
		bulk := rawjson.Get(printed, kind.Key)
		var m *List
		switch {
		case b.applied || len(b.payloads) > 0:
			m = b.list(kind, d.ManualBuffer)
		case rawjson.KindOf(bulk) == rawjson.Array:
			m = printedList(kind, bulk)
		default:
			continue
		}
		m.Origin = HookFile
		lists[kind.Key] = m
	}
	return lists
}

// list returns the entries that the calls registered.
func (b *buffer) list(kind *kinds.Kind, completionLimit int) *List {
	m := &List{sorted: true, Merge: kind.Overlays && len(b.payloads) > 0}
	size := 0
	for i, payload := range b.payloads {
		entry, err := item.CheckJSON(payload, item.MaxNesting)
		if err != nil {
			return &List{Err: finalizeFailed(kind, i, err)}
		}
		size += len(payload)
		m.entries = append(m.entries, entry)
	}
	if kind == kinds.Completions && completionLimit > 0 && size > completionLimit {
		return &List{Err: fmt.Errorf("manual completion buffer exceeded %d bytes", completionLimit)}
	}
	return m
}

// printedList returns the entries that the script printed. They have the form of
// register.json.
func printedList(kind *kinds.Kind, list json.RawMessage) *List {
	m := &List{entries: slices.Collect(rawjson.Elements(list)), extras: true}
	m.Merge = kind.Overlays && len(m.entries) > 0
	return m
}

func finalizeFailed(kind *kinds.Kind, i int, err error) error {
	key := kind.Key
	if kind == kinds.Completions {
		key = "completion"
	}
	return fmt.Errorf("manual %s registration finalize failed: %s[%d]: %w", key, kind.Key, i, err)
}
