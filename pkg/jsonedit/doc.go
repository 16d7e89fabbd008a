// Package jsonedit changes members of a JSON object in its text, and keeps every
// byte of the rest, so that a file that people wrote stays as they wrote it.
package jsonedit
