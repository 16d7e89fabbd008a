// Package declare reads the items that a project declares in server.d/register.json or
// registers in the hook server.d/register.sh.
//
// A [Reader] reads register.json into a [Document], and a [Hook] runs register.sh. Both
// return a [List] of entries for each kind, and [Build] builds the items of a list.
package declare
