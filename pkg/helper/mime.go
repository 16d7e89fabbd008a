package helper

import (
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
		head = media.WholeRunes(head)
	}
	return media.Sniff(head)
}
