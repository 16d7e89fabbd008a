// Package kinds describes the six kinds of items that a project offers: tools, resources,
// resource templates, prompts, completions and UI resources.
//
// A [Kind] contains the names of the kind, the directories of its items, and the functions
// that find and build them. Each kind is in a separate file, and packages above treat all
// kinds alike. An [Assembly] combines discovered and declared items into a list, and
// decides which of two items with the same name stays.
package kinds
