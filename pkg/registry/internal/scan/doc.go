// Package scan finds items in the directories of a project, and finds them
// again without reading what has not changed.
//
// [Run] walks the trees of a [Spec] and hands each directory, as a [Visit], to
// the function that knows what makes an item there. All that the function asks
// the Visit is recorded together with what it found, so the next Run takes the
// record over as long as nothing that was looked at has another stamp.
//
// [Encode] and [Decode] turn a [Result] into the bytes of a scan cache and back,
// so that a process can start from what an earlier one found. A cache only saves
// work and never decides anything: its records are used where the stamps confirm
// them, and one that is damaged, of another version or about another project is
// none.
package scan
