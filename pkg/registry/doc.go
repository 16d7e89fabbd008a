// Package registry lists the items of a project and writes the lists to .registry/, which
// all programs share.
//
// A [Catalog] returns one [List] for each kind of item: tools, resources, prompts and so on
// (package kinds). It checks a kind if a program asks for the list and the last check is
// too old. A check takes these steps, each in the file of that name:
//
//	check    runs the steps, and converts errors to a [Failure]
//	origin   selects the source of the items: discovery, declarations (package declare),
//	         or the registry file
//	build    scans the directories (package scan), builds the declared items, and makes
//	         the list; it reuses the results for unchanged files
//	persist  writes the registry file if the list has changed
//
// [Catalog.Changes] returns the changed lists for a server. [Catalog.Refresh] and
// [Catalog.Status] implement commands of mcp-registry. The format of registry files is in
// envelope and hash; the directory and its lock are in store.
//
// Other users and running programs can change the files that the package reads. So it opens
// files relative to open directories, never follows symbolic links, and never opens a file
// that could block the reader (package folder).
package registry
