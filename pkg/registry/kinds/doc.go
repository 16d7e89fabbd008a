// Package kinds knows the six kinds of things that a project offers: tools,
// resources, resource templates, prompts, completions and UI resources.
//
// A [Kind] is a description: the names of the kind, where its items are found,
// and the functions that find and build them. Each kind has a file of its own
// here, and packages above treat all kinds alike. An [Assembly] makes the items of
// a list out of what was found and what was declared, and settles which item
// gives way when two want the same name.
package kinds
