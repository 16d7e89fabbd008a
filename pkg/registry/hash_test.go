package registry

import (
	"encoding/json"
	"testing"
)

// the hashes of known items.
func TestHashVectors(t *testing.T) {
	hello := `{"name":"example-hello","description":"Return a friendly greeting","path":"hello/tool.sh",` +
		`"inputSchema":{"type":"object","properties":{}},"timeoutSecs":5}`
	readme := `{"name":"readme","description":"","path":"docs/readme.md","uri":"file:///srv/p/resources/docs/readme.md",` +
		`"mimeType":"text/markdown","provider":"file","uriAuto":true}`
	elsewhere := `{"uri":"file:///other/place", "uriAuto":true,"provider":"file","mimeType":"text/markdown",` +
		`"path":"docs/readme.md","description":"","name":"readme"}`
	for _, tc := range []struct {
		items []string
		hash  string
	}{
		{nil, "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"},
		{[]string{hello}, "36f769af571140dc07c209a73c6cac455c6d434ad3f1e71ec48d17746cc04b59"},
		{[]string{readme}, "f1195d711a718a2e623da67fa8dee483629543ed6e1608f9f1fa8faa1164e259"},
		{[]string{elsewhere}, "f1195d711a718a2e623da67fa8dee483629543ed6e1608f9f1fa8faa1164e259"},
	} {
		want(t, hashOf(raw(tc.items)), tc.hash)
	}
}

func raw(texts []string) []json.RawMessage {
	var list []json.RawMessage
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}
