package registry

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/pkg/registry/access"
)

// A tool with an unreadable declaration does not run. The place and the reason are reported for metadata, headers and
// register.json (CF-63, R-36, R-203).
func TestUnreadableDeclarations(t *testing.T) {
	for _, c := range []struct{ text, piece, fault string }{ // the last occurrence of the piece is the fault
		{`{}`, "", ""}, {`{"capabilities":null,"confine":null,"securityLevel":null}`, "", ""},
		{`{"capabilities":[]}`, "", ""}, {`{"confine":{}}`, "", ""}, {`{"capabilities":["Nothing"]}`, "", ""},
		{`{"confine":{"reed":[]}}`, "", ""},
		{`{"config":{"confine":5},"combine":1,"online":true,"define":1,"capability":1,"level":"x"}`, "", ""},

		{`{"confine":[]}`, `[]`, `"confine" must be an object`},
		{`{"confine":"none"}`, `"none"`, `"confine" must be an object`},
		{`{"confine":false}`, `false`, `"confine" must be an object`},
		{`{"capabilities":""}`, `""`, `"capabilities" must be an array of strings`},
		{`{"capabilities":{}}`, `{}`, `"capabilities" must be an array of strings`},
		{`{"capabilities":[1]}`, `[1]`, `"capabilities" must be an array of strings`},
		{`{"securityLevel":5}`, `5`, `"securityLevel" must be a string`},
		{`{"securityLevel":[]}`, `[]`, `"securityLevel" must be a string`},

		{`{"confine":{},"confine":{}}`, `"confine"`, `"confine" is given twice`},
		{`{"confine":{},"\u0063onfine":{}}`, `"\u0063onfine"`, `"confine" is given twice`},
		{`{"capabilities":[],"x":1,"capabilities":[]}`, `"capabilities"`, `"capabilities" is given twice`},
		{`{"capabilities":[],"capabilities":null}`, `"capabilities"`, `"capabilities" is given twice`},
		{`{"securityLevel":"full","securityLevel":"full"}`, `"securityLevel"`, `"securityLevel" is given twice`},
		{`{"confine":{"read":[],"read":["/"]}}`, `"read"`, `"confine.read" is given twice`},
		{`{"confine":{"exec":["a"],"\u0065xec":["b"]}}`, `"\u0065xec"`, `"confine.exec" is given twice`},

		{`{"Capabilities":[]}`, `"Capabilities"`, `"Capabilities" is not known; did you mean capabilities?`},
		{`{"CONFINE":{}}`, `"CONFINE"`, `"CONFINE" is not known; did you mean confine?`},
		{`{"confine ":{}}`, `"confine "`, `"confine " is not known; did you mean confine?`},
		{`{"con-fine":{}}`, `"con-fine"`, `"con-fine" is not known; did you mean confine?`},
		{"{\"\u0441onfine\":{}}", "\"\u0441onfine\"", "\"\u0441onfine\" is not known; did you mean confine?"},
		{`{"capabilites":[]}`, `"capabilites"`, `"capabilites" is not known; did you mean capabilities?`},
		{`{"security_level":"x"}`, `"security_level"`, `"security_level" is not known; did you mean securityLevel?`},
		{`{"capabilities":[],"Confine":{}}`, `"Confine"`, `"Confine" is not known; did you mean confine?`},
	} {
		const script, meta = "tools/t/tool.sh", "tools/t/tool.meta.json"
		inHeader := "#!/bin/sh\n# é mcp: " + c.text + "\n"
		entry := strings.Replace(`{"name":"t","path":"t/tool.sh",`+"\n"+c.text[1:], ",\n}", "}", 1)
		register := "{\"version\":1,\"tools\":[\n" + entry + "]}"
		beside := "# mcp: " + c.text + "\n"
		runs := func(content files, file, text, part string) {
			t.Helper()
			where := ""
			if c.fault != "" {
				where = position(t, file, text, c.piece) + part + ": " + c.fault
			}
			wantUnreadable(t, content, where)
		}
		runs(files{script: "", meta: c.text}, meta, c.text, "")
		runs(files{script: inHeader}, script, inHeader, "")
		runs(files{script: beside, meta: `{"name":"x","confine":{}}`}, script, beside, "")
		runs(files{script: "", "server.d/register.json": register}, "register.json", register, ": tools[0]")
	}
	// Invalid JSON counts in a header if it begins like an object.
	for _, c := range []struct{ text, where string }{
		{`{"name":"x"`, ":1:19: unexpected end"}, {`{"confine":{},}`, ":1:22: a member name expected"},
		{"{\"name\":\"\xff\"}", ":1:8: invalid UTF-8"}, {`{name:"x"}`, ":1:9: a member name expected"},
		{`see {"name"`, ""}, {`[]`, ""}, {`x`, ""}, {`{"a" mcp: {"name":"x"}`, ""},
	} {
		where := ""
		if c.where != "" {
			where = "tools/t/tool.sh" + c.where
		}
		wantUnreadable(t, files{"tools/t/tool.sh": "# mcp: " + c.text + "\n"}, where)
	}
}

// A metadata file that cannot be read matters even if one of lower precedence can be read (R-33, CF-63).
func TestUnreadableBesideReadable(t *testing.T) {
	const first, second = "tools/t/tool.sh.meta.json", "tools/t/tool.meta.json"
	wantUnreadable(t, files{"tools/t/tool.sh": "", first: "{", second: `{"confine":{}}`}, first+":1:2: unexpected end")
	wantUnreadable(t, files{"tools/t/tool.sh": "", first: `{"confine":{}}`, second: "{"}, "") // not read
}

// position returns the position of the last occurrence of a piece in the text of a file.
func position(t *testing.T, file, text, piece string) string {
	t.Helper()
	at := strings.LastIndex(text, piece)
	if at < 0 {
		t.Fatalf("%s does not hold %s", text, piece)
	}
	start := strings.LastIndexByte(text[:at], '\n') + 1
	return fmt.Sprintf("%s:%d:%d", file, strings.Count(text[:at], "\n")+1, utf8.RuneCountInString(text[start:at])+1)
}

// wantUnreadable checks that the one tool of a project does not run for a reason, or runs when that is "".
func wantUnreadable(t *testing.T, content files, reason string) {
	t.Helper()
	b := newBed(t, nil, content)
	list := b.tools().Items
	if len(list) != 1 {
		t.Errorf("%v: %d tools", content, len(list))
		return
	}
	_, err := access.DeclarationOf(list[0].JSON)
	switch log := strings.Join(b.Log(), "\n"); {
	case reason == "" && err != nil:
		t.Errorf("%v: %v", content, err)
	case reason == "":
	case err == nil || err.Error() != reason:
		t.Errorf("%v: %v, want %s", content, err, reason)
	case !strings.Contains(log, "warning mcp.tools: "+reason+"; the tool does not run"):
		t.Errorf("%v: logged %s", content, log)
	case access.LevelOf(list[0].JSON) != access.Full:
		t.Errorf("%v: a lower level suffices", content)
	}
}
