package cli

import "fmt"

// Size returns a number of bytes for people, such as 840K or 1.2M.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprintf("%dB", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%dK", (bytes+1<<9)>>10)
	}
	return fmt.Sprintf("%.1fM", float64(bytes)/(1<<20))
}
