// Package item builds one item of a registry, such as a tool or a prompt, from its
// metadata.
//
// A [Source] is one object of metadata: a metadata file, an inline header of a script, or
// an entry of a declared list. [Fields] are the sources of an item in order of precedence
// . An [Input] adds the project and the directory of the item, and a [Writer]
// writes the item's JSON key by key.
//
// The package checks every field that clients read. If a client would refuse a part of a
// schema, an annotation or an icon, that part is left out with a warning. Valid
// values are copied byte for byte.
package item
