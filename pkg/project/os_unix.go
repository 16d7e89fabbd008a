//go:build unix

package project

const orphanDefault = true

func systemTmp() string { return "/tmp" }
