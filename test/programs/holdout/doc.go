// Package holdout measures wrap with 25 programs. Facts and everyday tasks, one JSON file a program, were written by
// hand from the documentation before wrap saw the programs.
//
// At first nobody looked at the files of this folder. Somebody has looked at some of them since, so they are the
// development set: "make development" measures it, and its misses may be read. Nobody looks at the files of
// test/programs/holdout2 while improving wrap. "make holdout" measures these, and only its figures are results.
// Change a file of either set only to correct an error in a fact.
package holdout
