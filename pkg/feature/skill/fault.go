package skill

import "fmt"

// A Problem is a reason why a skill is not served.
type Problem string

const (
	noText         Problem = "text"        // there is no SKILL.md, or it cannot be read
	badFrontmatter Problem = "frontmatter" // of SKILL.md
	badName        Problem = "name"        // is not a name, or differs from the folder's
	badDescription Problem = "description" // is missing or too long
	badFiles       Problem = "files"       // there are too many, or they are too large
	irregular      Problem = "irregular"   // a file is a link, a pipe or a device
	unreadable     Problem = "unreadable"  // a file or folder
)

// A Fault is a problem of one skill.
type Fault struct {
	Skill   string // the name of its folder
	Problem Problem
	File    string // relative to the skills folder, with slashes
	Text    string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.File, f.Text) }
