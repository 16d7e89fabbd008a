//go:build !linux

package main

import (
	"errors"
	"time"
)

var errNoProc = errors.New("this system has no /proc")

func memoryOf(pid int, key string) (float64, error) { return 0, errNoProc }
func descriptorsOf(pid int) (float64, error)        { return 0, errNoProc }
func childrenOf(pid int) (float64, error)           { return 0, errNoProc }
func runTime(pid int) (time.Duration, error)        { return 0, errNoProc }
