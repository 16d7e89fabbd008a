package main

import (
	"os"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// openProject finds the project and reads its set-up (cli chapter 4).
func openProject(named string, warn func(string)) (*project.Project, error) {
	env := project.OSEnv()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := project.FindRoot(env, named, dir)
	if err != nil {
		return nil, &cli.Error{Code: cli.CodeNotFound, Message: err.Error(), Exit: cli.ExitFailed, Whole: true}
	}
	return project.Open(root, env, dir, warn), nil
}
