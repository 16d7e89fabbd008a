package cli

// ProjectRoot adds the option --project-root (cli chapter 4).
func (f *Flags) ProjectRoot(p *string) *Flag {
	return f.String(p, "project-root", "DIR", `the project; else MCPBASH_PROJECT_ROOT, else the nearest directory
		upwards that holds server.d/server.meta.json`).Completes(Dirs)
}

// JSON adds the option --json to a command that prints JSON unless standard output is a terminal (CLI-108, CLI-1164).
func (f *Flags) JSON(p *bool) {
	f.Bool(p, "json", "print results as JSON on a terminal, too, and errors as JSON on standard output")
}
