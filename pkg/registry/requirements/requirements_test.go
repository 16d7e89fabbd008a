package requirements

import (
	"slices"
	"testing"
)

// CLI-1109: a dependency may name its Debian package.
func TestParse(t *testing.T) {
	r, err := parse([]byte(`{"dependencies":[{"name":"convert","debian":"imagemagick"},{"or":["gojq","jq"]}]}`))
	if err != nil || len(r.Dependencies) != 2 || r.Dependencies[0].Debian != "imagemagick" ||
		!slices.Equal(r.Dependencies[1].Programs, []string{"gojq", "jq"}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{`{"dependencies":[{"name":"a","debian":5}]}`, `{"dependencies":[{"debian":"a"}]}`} {
		if r, err := parse([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// FuzzRequirements parses arbitrary requirements.
func FuzzRequirements(f *testing.F) {
	f.Add([]byte(`{"framework":{"minVersion":"9.0.0"},"dependencies":[{"name":"ffmpeg"},{"or":["gojq","jq"]}]}`))
	f.Add([]byte(`{"dependencies":[{"or":[5]}]}`))
	f.Add([]byte(`{"dependencies":[{"name":"convert","debian":"imagemagick"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			return
		}
		if r.MinVersion != "" && !IsVersion(r.MinVersion) {
			t.Errorf("%q", r.MinVersion)
		}
		for _, d := range r.Dependencies {
			if len(d.Programs) == 0 || slices.Contains(d.Programs, "") {
				t.Errorf("%q", d.Programs)
			}
		}
	})
}
