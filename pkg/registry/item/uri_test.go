package item

import "testing"

//
func TestProviderOf(t *testing.T) {
	for uri, provider := range map[string]string{
		"file:///a": "file", "a/b.txt": "file", "": "file", "mailto:x": "file", "file://./resources/a.txt": "file",
		"https://x": "https",
		"HTTPS://x": "https", "git+https://x/y.git#main:a": "git", "git://x": "git", "ui://a/b": "ui", "echo://Hello": "echo",
		"myapi://": "myapi", "MyAPI://x": "MyAPI", "GIT+HTTPS://x": "git", "Echo://x": "echo",
		"${MCPBASH_PROJECT_ROOT}/a": "file", "file://${MCPBASH_PROJECT_ROOT}/a": "file",
	} {
		if got := ProviderOf(uri); got != provider {
			t.Errorf("%s: %s", uri, got)
		}
	}
}
