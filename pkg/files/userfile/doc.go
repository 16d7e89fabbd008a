// Package userfile edits files that belong to the user and that other programs edit as well: settings of
// clients, register.json, metadata and scripts of tools.
//
// An edit only changes the text of a file. Owner, group, mode, access control list and
// extended attributes are copied to the new file. If that is impossible, or if the file has
// several names (hard links), Edit returns an error.
//
// The new file replaces the old one in one step, so a failure, a full disk or a signal
// leaves the old one. If another program writes the file during an edit, its text is neither
// lost nor overwritten on systems that can exchange two names (Linux, macOS). On other
// systems, a short moment remains between the last check and the renaming (CLI-712).
package userfile
