// Package declare reads what a project declares, rather than lets be found: the
// lists of items in server.d/register.json, and those that the hook
// server.d/register.sh registers.
//
// A [Reader] reads register.json into a [Document], and a [Hook] runs register.sh.
// Both yield a [List] of entries for each kind, and [Build] builds the items of a
// list.
package declare
