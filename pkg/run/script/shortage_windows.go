package script

// Shortage returns "", because errors on Windows describe such problems well enough.
func Shortage(error) string { return "" }
