package helper

import (
	"unicode/utf8"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/media"
)

// sniffed is the number of bytes at the beginning of a file that its type is derived from.
const sniffed = 1 << 20

// mimeTypes returns the types of files, by name and content (SDK-84). It reads only regular files.
func mimeTypes(files []string, _ []byte) ([]byte, int) {
	var answer []byte
	for _, file := range files {
		answer = append(append(answer, mimeType(file)...), '\n')
	}
	return answer, exitOK
}

func mimeType(file string) string {
	head, err := boundedfile.ReadHead(file, sniffed)
	if err != nil {
		return media.Binary
	}
	if len(head) == 0 {
		return media.Text
	}
	if byName := media.ByName(file); byName != "" {
		return byName
	}
	if len(head) == sniffed {
		head = wholeRunes(head)
	}
	return media.Sniff(head)
}

// wholeRunes cuts off an incomplete character at the end.
func wholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax; n++ {
		if at := len(text) - n; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at]
			}
			break
		}
	}
	return text
}
