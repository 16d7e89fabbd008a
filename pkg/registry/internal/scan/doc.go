// Package scan finds items in the directories of a project. A second scan reads only the
// files that have changed.
//
// [Run] walks the trees of a [Spec] and calls a function of the kind for each directory. The
// function reads the directory through a [Visit], which records every file that the
// function looks at. The next Run reuses the record of a directory if the stamps of all
// these files are unchanged.
package scan
