// Package registry finds out what a project offers and keeps it in .registry/,
// the only thing that the separate programs share.
//
// A [Catalog] returns one [List] for each kind of thing: tools, resources,
// prompts and so on (package kinds). A list is checked when it is asked for and
// the last check is too old. A check takes these steps, each in the file of that
// name:
//
//	check    runs the steps, and turns what goes wrong into a [Failure]
//	origin   decides where the items come from: the project's directories, what it
//	         declares (package declare), or the registry file as it is
//	build    scans the directories (package scan), builds the declared items, and
//	         makes the list; nothing is built again of what has not changed
//	persist  writes the registry file if the list is another one
//
// [Catalog.Changes] tells a server which lists have changed, [Catalog.Refresh] and
// [Catalog.Status] are what the command does. The registry file itself is in
// envelope and hash, the directory with its lock in store.
//
// Everything that is read here was written by others and may be changing
// meanwhile: files are opened relative to open directories, never through a
// symbolic link, and nothing is opened that could make a reader wait (package
// folder).
package registry
