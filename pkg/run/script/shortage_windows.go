package script

// Shortage says what to do about an error that is a want of descriptors,
// processes or memory. Windows words such errors well enough itself.
func Shortage(error) string { return "" }
