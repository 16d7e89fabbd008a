// Package userfile edits files that belong to the user and that other programs edit as well: settings of
// clients, register.json, metadata and scripts of tools.
//
// Only the text of a file changes. Owner, group, mode, access control list and extended attributes are copied to the
// new file, or the edit is refused; a file with several names (hard links) is refused. The new file
// takes the place of the old one in one step, so that a failure, a full disk or a signal leaves the old one. What
// another program writes meanwhile is neither lost nor overwritten, where the system can exchange two names (Linux,
// macOS); elsewhere a moment remains between looking and renaming (CLI-712).
package userfile
