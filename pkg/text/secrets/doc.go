// Package secrets recognizes secrets. It recognizes names of secrets in JSON, headers,
// variables and command lines, and the format of tokens and private keys. [Redactor] keeps
// secrets out of logs, and [Scan] finds them in files.
//
// It does not recognize a secret that has neither such a name nor such a format.
package secrets
