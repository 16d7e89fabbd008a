//go:build linux && !amd64 && !arm64

package confine

// Other processors have no filter.
const auditArch, firstX32 = 0, 0

var legacyByPath, legacyWatches []uintptr
