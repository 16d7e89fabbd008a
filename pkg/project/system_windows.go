package project

import (
	"io"
	"os"
	"path/filepath"
)

const orphanDefault = "false"

// completeEnv sets TMP, which programs on Windows use, from TEMP.
func completeEnv(env Env) {
	if env["TEMP"] != "" {
		env.Default("TMP", env["TEMP"])
	}
}

func systemTmp() string { return os.TempDir() }

const helperName = "mcp-jq.exe"

// linkHelper makes a hard link, or a copy where the directories lie on
// different volumes.
func linkHelper(exe string, root *os.Root, link string) error {
	root.Remove(link)
	if os.Link(exe, filepath.Join(root.Name(), link)) == nil {
		return nil
	}
	from, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := root.OpenFile(link, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}

// checkWritable returns the reason why this process cannot create files in a directory. It tries to create one, because
// Windows has no other check.
func checkWritable(dir string) error {
	probe, err := os.MkdirTemp(dir, "mcpbash.probe.")
	if err != nil {
		return err
	}
	return os.Remove(probe)
}
