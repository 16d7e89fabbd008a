package project

import "os"

const orphanDefault = false

func systemTmp() string { return os.TempDir() }
