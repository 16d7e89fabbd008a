//go:build unix

package project

const orphanDefault = true

func completeEnv(Env) {}

func systemTmp() string { return "/tmp" }
