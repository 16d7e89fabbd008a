// Package holdout measures wrap with programs that nobody looks at while improving wrap. Facts and everyday
// tasks, one JSON file a program, were written by hand from the documentation before wrap saw the programs.
// make holdout runs the tests. Change a file here only to correct an error in a fact.
package holdout
