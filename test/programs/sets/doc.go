// Package sets measures wrap with test sets. A set is a folder of JSON files, one for each program. A file has facts
// about the program's options and a few everyday tasks. They were written from the documentation before wrap saw
// the program.
//
// The folders development to development11 and daily have the sets that were used to improve wrap. "make
// development" measures them, and their misses may be read. All programs of daily have a recipe, so only recipes are
// measured there. Nobody looks at the files of the folder holdout while improving wrap. "make holdout" measures them,
// and only its figures are results. Change a file of a set only to correct an error.
//
// A hold-out set that was looked at gets a name for development. Somebody who has not seen wrap writes a new one:
// its JSON files, names.txt and install.sh, in a new folder holdout.
package sets
