package prompt

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
)

var placeholder = regexp.MustCompile(`\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}`)

// T-410: FindMisplaced finds the same placeholders as a regular expression.
func FuzzFindMisplaced(f *testing.F) {
	for _, text := range []string{
		"", "{{", "{{a", "{{a}", "{{a}}", "{{ a }}", "{{{a}}}", "{{\ta}}{{b }}", "{{a b}}", "{{1a}}", "{{a1_}} {{_}}", "{{}}",
		"{{ {{a}} }}", "x\n\ny{{ä}}{{z\n}}{{z}}{{z}}", "{{{{a}}", "{{a}}}}{{b}}",
	} {
		f.Add(text)
	}
	arguments := json.RawMessage(`[{"name":"a"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var want, got []string
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if m[0] != "{{a}}" && !slices.Contains(want, m[0]) {
				want = append(want, m[0])
			}
		}
		for _, m := range FindMisplaced(text, arguments) {
			got = append(got, placeholder.FindString(m.Fault))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	})
}
