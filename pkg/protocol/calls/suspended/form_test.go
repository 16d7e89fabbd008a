package suspended

import (
	"encoding/json"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// M-56: forms that the SDK makes, and forms with the other members of the protocol's schema.
func TestSoundForms(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{}}`: "",
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":["X"]}},"required":["a"]}`: "",
		`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}}`:             "",
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}}}}`:           "",
		`{"type":"object","properties":{"a":{"type":"array","items":{"oneOf":[],"x":1}}}}`://
		`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[],"x":1}}}}`,
		`{"type":"object","properties":{"a":{"type":"number","minimum":1,"default":2.5,"title":"A"}}}`: "",
		`{"type":"object","properties":{"a":{"type":"string","format":"email","minLength":1}}}`:        "",
	} {
		if want == "" {
			want = in
		}
		if got, err := soundForm(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s: %v %s", in, err, got)
		}
	}
	for _, in := range []string{`7`, `null`, ``, `{}`, `{"type":"object"}`, `{"type":"array","properties":{}}`,
		`{"type":"object","properties":{},"required":[1]}`, `{"type":"object","properties":{"a":{"type":"null"}}}`} {
		if got, err := soundForm(json.RawMessage(in)); err == nil {
			t.Errorf("%s passes as %s", in, got)
		}
	}
}

// M-54.
func TestValidForms(t *testing.T) {
	form := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	for answer, want := range map[string]bool{
		`{"action":"accept","content":{"n":1}}`: true, `{"action":"accept","content":{"n":"1"}}`: false,
		`{"action":"accept"}`: false, `{"action":"accept","content":[1]}`: false, `{"action":"decline"}`: true,
		`{"action":"cancel","content":7}`: true, `{"action":"maybe"}`: false, `{}`: false,
	} {
		if validForm(form, json.RawMessage(answer)) != want {
			t.Errorf("%s", answer)
		}
	}
	if !validForm(nil, json.RawMessage(`{"action":"accept"}`)) {
		t.Error("a URL that was opened has no content")
	}
}

// M-56: every accepted form is valid JSON, and is accepted again.
func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"oneOf":[]}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := rawjson.Check(text)
		if err != nil {
			return
		}
		form, err := soundForm(v)
		if err != nil {
			return
		}
		if _, err := soundForm(form); err != nil || !json.Valid(form) {
			t.Errorf("%s became %s: %v", text, form, err)
		}
	})
}
