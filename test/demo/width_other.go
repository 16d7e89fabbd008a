//go:build !unix

package main

import "os"

func width(*os.File) int { return 120 }
