// Package item builds one item of a registry, such as a tool or a prompt, out of
// what its author wrote about it.
//
// Authors write in [Source] objects: a metadata file, an inline header of a
// script, an entry of a declared list. [Fields] are several of them, the most
// important first, and each field is taken from the first that has it in the
// right form. An [Input] adds what the item belongs to, and a [Writer]
// writes the item's JSON, key by key.
//
// What clients will read is checked on the way: a part of a schema, an annotation
// or an icon that a client would refuse is left out with a warning, and the rest
// of the item stays. What passes the checks is copied byte for byte.
package item
