// Package registry finds what a project offers and keeps it in .registry/,
// the only thing the separate programs share.
//
// A [Catalog] hands out one [List] per [Kind]. How a list comes about, each
// step in the file of that name:
//
//	check     settles whether to look at all, and in what order things happen
//	origin    decides who says what there is: the project's content, a list
//	          written by hand (registerjson, registersh), or the file as it is
//	scan      walks the content directories; what has not changed is not read again
//	look      is one directory as a kind sees it
//	tools …   one file per kind: makes the items of a directory or of a list
//	make      puts the items together; assembly and order settle who gives way
//	          to whom, and their order
//	keep      compares with the file in .registry/, and has store write it
//
// A [ToolRegistry] is the same seen from the other side (registry chapter 20):
// tools are registered, asked for by their ids, and taken out. [New] makes one
// in memory. [Open] opens that of a project, where a registered tool is an entry
// of server.d/register.json: registration checks it, draft decides under
// the lock of serverdir, manuscript changes the text and nothing else in it.
// level says what a tool may need to be offered.
//
// Everything read here was written by others and may be changing meanwhile:
// directories are entered and files opened relative to open directories, never
// through a symbolic link, and nothing that could make a reader wait is opened.
package registry
