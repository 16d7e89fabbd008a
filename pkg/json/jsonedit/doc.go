// Package jsonedit changes members of a JSON object in its text. All other bytes stay the
// same, so people's files keep their layout and comments. [Document] edits register.json and
// other files of a project. [File] edits files of other programs, which can have comments.
package jsonedit
