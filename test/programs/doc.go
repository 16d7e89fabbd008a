// Package programs holds wrap against real programs: tables of facts about their options,
// written by hand from their documentation (WRAP-50). make programs runs it.
package programs
