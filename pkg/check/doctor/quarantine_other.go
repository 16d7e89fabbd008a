//go:build !darwin

package doctor

// quarantined is for macOS alone.
func quarantined(string) (is, known bool) { return false, false }
