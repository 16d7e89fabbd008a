// Package handoff holds the directories through which the server and a script
// hand each other files: progress, logs, errors and embedded resources from the
// script, answers and the cancel marker from the server (tools section 6).
//
// A script may do to these files whatever it likes, and its children may do so
// after its end. So the server holds descriptors of the directory and of the
// files in it before the script starts, and reads what it opened itself. What
// only appears later is created or opened below the directory's descriptor:
// never through a symbolic link that leads out, never waiting for a pipe or a
// lease, and never more than a bounded number of bytes at a time. Nothing here
// can be made to wait by a script, so ending one never does either.
package handoff
