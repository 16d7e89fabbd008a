package registry

import (
	"strings"
	"testing"

	"mcp-bash/pkg/rawjson"
)

// listing returns the JSON of all items of a kind.
func (b *bed) listing(k *Kind) string {
	b.t.Helper()
	list, err := b.List(b.t.Context(), k)
	if err != nil {
		b.t.Fatal(err)
	}
	var items []string
	for _, item := range list.Items {
		items = append(items, string(item.JSON))
	}
	return strings.Join(items, "\n")
}

// The examples of registry sections 5 to 9, from the files they would be made
// of, and the registry files they are kept in.
func TestExamplesOfTheContract(t *testing.T) {
	b := newBed(t, nil, files{
		"resources/docs/readme.md": "# Hi",
		"resources/logs.meta.json": `{"name":"logs-by-date","uriTemplate":"file:///var/log/{service}/{date}.log","title":"Logs by Date",
			"description":"Log files by service and date","mimeType":"text/plain","annotations":{"audience":["user"]}}`,
		"prompts/summarise/summarise.txt":       "{{notes}}",
		"prompts/summarise/summarise.meta.json": `{"name":"summarise-notes","description":"Summarise meeting notes","arguments":{"type":"object","required":["notes"],"properties":{"notes":{"type":"string"}}}}`,
		"completions/suggest.sh*":               "",
		"server.d/register.json":                `{"version":1,"completions":[{"name":"demo.completion","path":"completions/suggest.sh","timeoutSecs":5}]}`,
		"server.d/server.meta.json":             `{"name":"my-server"}`,
		"tools/weather/tool.sh":                 "",
		"tools/weather/ui/index.html":           "<p>",
		"tools/weather/ui/ui.meta.json":         `{"description":"Weather card","meta":{"csp":{"connectDomains":["https://cdn.example.com"]}}}`,
	})
	for _, tc := range []struct {
		kind *Kind
		want string
	}{
		{Resources, `{"name":"readme","description":"","path":"docs/readme.md","uri":"file://` + b.root + `/resources/docs/readme.md","mimeType":"text/markdown","provider":"file","uriAuto":true}`},
		{Templates, `{"name":"logs-by-date","uriTemplate":"file:///var/log/{service}/{date}.log","title":"Logs by Date","description":"Log files by service and date","mimeType":"text/plain","annotations":{"audience":["user"]}}`},
		{Prompts, `{"name":"summarise-notes","description":"Summarise meeting notes","path":"summarise/summarise.txt","arguments":{"type":"object","required":["notes"],"properties":{"notes":{"type":"string"}}},"role":"user","metadata":null}`},
		{Completions, `{"name":"demo.completion","path":"completions/suggest.sh","kind":"shell","timeoutSecs":5}`},
		{UIResources, `{"name":"weather","uri":"ui://my-server/weather","path":"tools/weather/ui","entrypoint":"index.html","hasHtml":true,"template":null,"description":"Weather card","mimeType":"text/html;profile=mcp-app","csp":{"connectDomains":["https://cdn.example.com"]},"permissions":{},"prefersBorder":true}`},
	} {
		want(t, b.listing(tc.kind), tc.want)
		e, err := parseEnvelope([]byte(b.read(".registry/" + tc.kind.File)))
		if err != nil || len(e.items) != 1 || string(rawjson.Normal(e.items[0])) != tc.want || e.hash != hashOf(e.items) {
			t.Errorf("%s: %v %+v", tc.kind.File, err, e)
		}
	}
	readme := b.listing(Resources)
	list, _ := b.List(t.Context(), Resources)
	want(t, list.Hash, "f1195d711a718a2e623da67fa8dee483629543ed6e1608f9f1fa8faa1164e259") // R-22, wherever it lies
	want(t, URI(b.p, []byte(readme)), "file://"+b.root+"/resources/docs/readme.md")
	b.wantLog()
}
