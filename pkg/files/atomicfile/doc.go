// Package atomicfile replaces whole files, and locks files. Readers see either the old or the new content.
//
// A file is written under a temporary name in the same directory, and renamed. [IsTemporary] recognizes the temporary
// files of killed programs.
package atomicfile
