#include "textflag.h"

// func vfork(flags uintptr, pidfd *int32) uintptr
//
// Both processes return to the caller on one stack, the new one first. It overwrites the return
// address there, so a register keeps it.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ	flags+0(FP), DI
	XORL	SI, SI	// no stack of its own
	MOVQ	pidfd+8(FP), DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$56, AX	// clone
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	MOVQ	AX, ret+16(FP)
	RET
