package helper

import "mcp-bash/pkg/text/secrets"

// redacted prints a text without its secrets (SDK-103).
func redacted(_ []string, input []byte) ([]byte, int) {
	return []byte(secrets.Text(string(input))), exitOK
}
