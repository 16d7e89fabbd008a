// Package strict64 decodes base64 and accepts one spelling for each value. Package base64 ignores line breaks, also in
// its strict mode. So somebody could change a sealed text, and it could still be opened.
package strict64

import (
	"encoding/base64"
	"strings"
)

// URL decodes base64url without padding.
func URL(text string) ([]byte, error) { return decode(base64.RawURLEncoding, text) }

// Std decodes base64 with padding.
func Std(text string) ([]byte, error) { return decode(base64.StdEncoding, text) }

func decode(form *base64.Encoding, text string) ([]byte, error) {
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		return nil, base64.CorruptInputError(at)
	}
	return form.Strict().DecodeString(text)
}
