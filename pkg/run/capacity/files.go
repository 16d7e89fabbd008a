package capacity

// Parts are the shares of the open files of a process. Together they are all of its files, so no part can use up the
// files of another one.
type Parts struct {
	Running int // files of scripts that run, and of idle hand-off directories
	Waiting int // files of scripts that wait for their clients, and as many of long-running calls
	Left    int // lifelines of processes that ended scripts have left running
	Results int // stored results
	Sockets int // connections of HTTP
}

// PartsOf divides a number of files. 0 stands for many.
func PartsOf(files int) Parts {
	const many, own = 1 << 20, 64 // own files: the project, the catalog, logs, resources that are read
	if files <= 0 {
		files = many
	}
	p := Parts{Running: files / 4, Waiting: files / 8, Left: files / 32, Results: files / 32}
	p.Sockets = files - p.Running - 2*p.Waiting - p.Left - p.Results - min(own, files/8)
	return p
}
