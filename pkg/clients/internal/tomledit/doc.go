// Package tomledit puts a table into the text of a TOML file, changes single values in it
// and takes it out again, and keeps every other byte, comments included. Where to edit,
// the positions of a parser say; afterwards the text is parsed again, and an edit that
// changed anything else is refused.
package tomledit
