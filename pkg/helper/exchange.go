package helper

import "mcp-bash/pkg/files/swap"

// exchange exchanges two paths. If the system cannot, install.sh renames them in two steps, and
// reports errors itself.
func exchange(args []string, _ []byte) ([]byte, int) {
	if err := swap.Exchange(args[0], args[1]); err != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
