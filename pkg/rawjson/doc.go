// Package rawjson handles JSON as text: it checks, cuts, compacts and writes
// values without decoding them, so that numbers keep their digits and objects
// the order of their members (P-406, R-13).
//
// A value is a json.RawMessage. Functions that take a value expect text that
// [Check] or [Next] accepted; on other text they return something harmless and
// never panic, but what they return is not specified.
//
// Where a member is repeated in an object, the last one wins and stands at the
// place of the first (SDK-19).
package rawjson
