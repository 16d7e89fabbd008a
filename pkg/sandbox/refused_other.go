//go:build !linux

package sandbox

func (h *Confinement) refusal(string) Refusal { return NotRefused }
