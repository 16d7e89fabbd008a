// Package jsonedit changes members of a JSON object in its text. All other bytes stay the
// same, so people's files keep their layout and comments.
package jsonedit
