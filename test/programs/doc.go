// Package programs tests wrap with real programs. The files in tasks have everyday tasks for the recipes in
// share/recipes (WRAP-8), and help.txtar has tasks for drafts from help texts. make programs runs it.
package programs
