package tool

import (
	"strings"
	"testing"
)

// CF-25: names in messages of scripts are parts of lines, and their number is limited.
func FuzzDeniedNames(f *testing.F) {
	for _, text := range []string{
		"x.sh: line 3: /srv/a: Permission denied", "find: ‘a b’: Permission denied\r\n", "open /a: permission denied",
		"[Errno 13] Permission denied: '/a'", "Error: spawn git EACCES", "Permission denied - git (Errno::EACCES)",
		"awk: failed to exec /bin/sh -c x (Permission denied)",
		": Permission denied\n'': Permission denied\n\xff: Permission denied",
		strings.Repeat("a: b: Permission denied\n", 3*maxDenied),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := deniedNames(text)
		if len(names) > maxDenied*len(denied) {
			t.Errorf("%d names", len(names))
		}
		for _, n := range names {
			if n.name == "" || strings.Contains(n.name, "\n") || !strings.Contains(text, n.name) {
				t.Errorf("%q of %q", n.name, text)
			}
		}
	})
}
