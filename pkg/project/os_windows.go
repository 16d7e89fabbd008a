package project

import "os"

const orphanDefault = false

// completeEnv sets TMP, which programs on Windows use, from TEMP (E-2).
func completeEnv(env Env) {
	if env["TEMP"] != "" {
		env.Default("TMP", env["TEMP"])
	}
}

func systemTmp() string { return os.TempDir() }
