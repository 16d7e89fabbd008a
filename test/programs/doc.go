// Package programs holds wrap against real programs: tables of facts about their options, written
// by hand from their documentation, and of calls of the tools whose results are known (WRAP-50).
// make programs runs it.
package programs
