package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// A buffer is what register.sh registered of one kind. Every kind starts as if
// begin had been called (registry R-155).
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

// replay makes the calls that register.sh wrote down; what it logs goes to
// log.
func replay(calls []byte, log mcp.LogFunc) map[string]*buffer {
	buffers := make(map[string]*buffer, len(manualKinds))
	for _, kind := range manualKinds {
		buffers[kind.key] = new(buffer)
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

// judge turns what register.sh registered and printed into lists (R-155 to
// Kinds it did not mention are missing.
func judge(buffers map[string]*buffer, stdout []byte, completionLimit int) map[string]*manual {
	printed, err := parseObject(stdout)
	if err != nil {
		printed = nil
	}
	lists := make(map[string]*manual)
	for _, kind := range manualKinds {
		b := buffers[kind.key]
		bulk := rawjson.Get(printed, kind.key)
		switch {
		case b.applied || len(b.payloads) > 0:
			lists[kind.key] = b.list(kind.key, kind.required, completionLimit)
		case rawjson.KindOf(bulk) == rawjson.Array:
			lists[kind.key] = printedList(kind.key, bulk, kind.required)
		}
	}
	return lists
}

// list is R-156.
func (b *buffer) list(key string, required []string, completionLimit int) *manual {
	m := &manual{origin: hookFile, sorted: true}
	size := 0
	for i, payload := range b.payloads {
		entry, err := checkJSON(payload, maxNesting)
		if err != nil {
			return &manual{origin: hookFile, fault: finalizeFailed(key)}
		}
		size += len(payload)
		if fault := entryFault(entry, required); fault != "" {
			m.said = append(m.said, message{mcp.Warning, fmt.Sprintf("%s: %s[%d]: %s; dropped", hookFile, key, i, fault)})
			continue
		}
		m.entries = append(m.entries, entry)
	}
	if key == "completions" && completionLimit > 0 && size > completionLimit {
		return &manual{origin: hookFile, fault: fmt.Sprintf("Manual completion buffer exceeded %d bytes", completionLimit)}
	}
	return m
}

// printedList is R-157: as in register.json, where one faulty entry spoils all.
func printedList(key string, list json.RawMessage, required []string) *manual {
	m := &manual{origin: hookFile, entries: slices.Collect(rawjson.Elements(list)), extras: true}
	for _, entry := range m.entries {
		if entryFault(entry, required) != "" {
			m.fault = finalizeFailed(key)
		}
	}
	return m
}

func finalizeFailed(key string) string {
	if key == "completions" {
		key = "completion"
	}
	return fmt.Sprintf("Manual %s registration finalize failed", key)
}
