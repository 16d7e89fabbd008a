package helper

import "mcp-bash/pkg/files/swap"

// exchange has two paths change places. Who calls it has another way where the
// system cannot, and says what is wrong if that fails too.
func exchange(args []string, _ []byte) ([]byte, int) {
	if err := swap.Exchange(args[0], args[1]); err != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
