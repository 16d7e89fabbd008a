//go:build linux && !amd64 && !arm64

package confine

// No filter is made for other processors.
const auditArch, firstX32 = 0, 0

var legacyByPath []uintptr
