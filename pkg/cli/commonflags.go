package cli

// ProjectRoot adds the option --project-root (cli chapter 4).
func (f *Flags) ProjectRoot(p *string) *Flag {
	return f.String(p, "project-root", "DIR", `the project; else MCPBASH_PROJECT_ROOT, else the nearest directory
		upwards that holds server.d/server.meta.json`).Completes(Dirs)
}

// JSON adds the option --json to a command that always prints JSON (CLI-108).
func (f *Flags) JSON() {
	f.Bool(new(bool), "json", "errors as JSON on standard output, too; results always are")
}
