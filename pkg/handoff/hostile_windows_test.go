package handoff

import "os"

// plants are what a script may put under a name, by what it is.
func plants(string) map[string]func(path string) error {
	return map[string]func(path string) error{
		"directory": func(path string) error { return os.MkdirAll(path+"/sub", 0o700) },
	}
}
