//go:build !darwin

package doctor

func quarantined(string) (is, known bool) { return false, false }
