// Package handoff manages the directories in which the server and a script exchange files.
// The script writes progress, logs, errors and embedded resources. The server writes answers
// and the cancel marker (tools section 6).
//
// A script can do anything to these files, and its child processes can do so after its end.
// Therefore the server opens the directory and its files before the script starts, and reads
// only the files that it opened.
//
// Files that appear later are created or opened below the directory's descriptor. The server
// never follows a symbolic link out of the directory, and never waits for a pipe or a lease.
// Each read is limited to a number of bytes. A script can block nothing here, so ending a
// script never blocks either.
package handoff
