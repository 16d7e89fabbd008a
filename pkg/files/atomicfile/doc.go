// Package atomicfile replaces a file as a whole, so that readers see the old
// content or the new one. It also locks a file, so that one program writes at a time.
//
// [Write] writes a temporary file in the same directory and renames it. If the program
// is killed, the temporary file stays; [IsTemporary] recognizes its name.
package atomicfile
