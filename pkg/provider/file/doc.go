// Package file is the provider of local files. It reads only regular files below its roots. No URI,
// symbolic link or concurrent change makes it open a file outside the roots, or reveals whether
// that file exists.
package file
