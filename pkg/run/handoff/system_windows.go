package handoff

// MostIdle returns how many unused hand-off directories may be kept. On Windows, directories
// are not reused.
func MostIdle() int { return 1 }

const nonblock = 0

// Wake does nothing. Windows has no FIFOs, so scripts poll for answers.
func (f *Folder) Wake(string) {}
