// Package tomledit adds a table to the text of a TOML file, changes single values in it, and
// removes it. All other bytes stay the same, including comments. The positions of a parser
// determine where to edit. The result is parsed again, and an edit that changed anything
// else is rejected.
package tomledit
