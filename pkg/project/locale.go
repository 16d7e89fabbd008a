package project

import (
	"os"
	"path/filepath"
	"sync"
)

// utf8Locale is the locale with the rules of C and characters in UTF-8.
const utf8Locale = "C.UTF-8"

// defaultLocale returns the locale of scripts that do not inherit one. It is C.UTF-8 if the system has that, and
// otherwise C. Bash would print a warning for a locale that the system lacks. The C library of Alpine (musl) needs no
// file for it.
var defaultLocale = sync.OnceValue(func() string {
	return localeIn("/")
})

func localeIn(root string) string {
	for _, name := range []string{
		"usr/lib/locale/C.utf8", "usr/lib/locale/C.UTF-8", "usr/share/locale/C.UTF-8", "lib/ld-musl-*.so.1",
	} {
		if found, _ := filepath.Glob(filepath.Join(root, name)); len(found) > 0 {
			if _, err := os.Stat(found[0]); err == nil {
				return utf8Locale
			}
		}
	}
	return "C"
}
