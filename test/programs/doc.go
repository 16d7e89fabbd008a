// Package programs tests wrap with real programs (WRAP-50). Tables, written by hand from the documentation, list
// facts about their options. Other tables list calls of the tools, with their results. The files in tasks have
// everyday tasks for the recipes in share/recipes (WRAP-55). make programs runs it.
package programs
