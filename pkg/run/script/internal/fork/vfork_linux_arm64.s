#include "textflag.h"

// func vfork(flags uintptr, pidfd *int32) uintptr
//
// Both processes return to the caller on one stack, the new one first. The return address is in a
// register.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-24
	MOVD	flags+0(FP), R0
	MOVD	ZR, R1	// no stack of its own
	MOVD	pidfd+8(FP), R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	$220, R8	// clone
	SVC
	MOVD	R0, ret+16(FP)
	RET
