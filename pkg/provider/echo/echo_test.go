package echo

import (
	"errors"
	"testing"

	"mcp-bash/pkg/provider"
)

// RES-130, RES-46: the text in a URI, and the limit.
func TestRead(t *testing.T) {
	for uri, want := range map[string]string{
		"echo://Hello-from-manual-registry": "Hello-from-manual-registry",
		"echo://a%20b%20%20c":               "a b  c",
		"ECHO://x":                          "x",
		"echo://":                           "",
		"echo://%41%2520%0A\n":              "%41%2520%0A\n",
		"echo://echo://x?y#z":               "echo://x?y#z",
	} {
		got, err := Provider{}.Read(t.Context(), uri, 100)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", uri, got, err)
		}
	}
	for uri, want := range map[string]provider.Failure{
		"":              {Status: provider.Invalid, Message: "echo provider requires echo://<payload>"},
		"file:///etc":   {Status: provider.Invalid, Message: "Unsupported URI scheme for echo provider"},
		"echo:x":        {Status: provider.Invalid, Message: "Unsupported URI scheme for echo provider"},
		"echo://123456": {Status: provider.TooLarge, Message: "Resource content exceeds 5 bytes"},
	} {
		var f *provider.Failure
		if _, err := (Provider{}).Read(t.Context(), uri, 5); !errors.As(err, &f) || *f != want {
			t.Errorf("%q: %v", uri, err)
		}
	}
	if got, err := (Provider{}).Read(t.Context(), "echo://%20%20345", 5); err != nil || string(got) != "  345" {
		t.Error("exactly the limit:", got, err) // the limit is on the returned bytes
	}
}
