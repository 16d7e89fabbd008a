package observe

const legacyOpen = ^uintptr(0) // there is none

// legacy are the calls that this processor does not have.
var legacy map[uintptr]inspector
