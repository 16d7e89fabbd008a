// Package secrets recognises secrets: by the names that they have in JSON, headers,
// variables and command lines, and by the form of tokens and private keys. It keeps them out of
// logs ([Redactor]) and finds them in files ([Scan]).
//
// A secret that has neither such a name nor such a form is not recognised.
package secrets
