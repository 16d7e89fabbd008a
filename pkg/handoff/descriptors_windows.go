package handoff

// MostIdle is how many hand-off directories may be kept that nobody uses: none is used twice here.
func MostIdle() int { return 1 }

// MostWaiting is how many scripts may wait for somebody: there is no limit of descriptors.
func MostWaiting() int { return mostWaiting }
