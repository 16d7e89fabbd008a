package handoff

import "os"

// plants are types of files that a script can put under a name.
func plants(string) map[string]func(path string) error {
	return map[string]func(path string) error{
		"directory": func(path string) error { return os.MkdirAll(path+"/sub", 0o700) },
	}
}
