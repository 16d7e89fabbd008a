package observe

const legacyOpen = ^uintptr(0) // no such call

// legacy is empty, because this processor lacks these calls.
var legacy map[uintptr]inspector
