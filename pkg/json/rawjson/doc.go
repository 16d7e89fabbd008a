// Package rawjson processes JSON as text. It checks, splits, compacts and writes values
// without decoding them. Numbers keep their digits and objects the order of their members
// (P-406, R-13).
//
// A value is a json.RawMessage. Functions with a value expect text that [Check] or [Next]
// accepted. For other text, their result is unspecified, but they never panic.
//
// If a member is repeated in an object, the last value wins, at the position of the first
// one (SDK-19).
package rawjson
