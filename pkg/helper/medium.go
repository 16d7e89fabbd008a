package helper

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
)

// aroundMedia is the maximum size of a response without the data of the image or sound, in bytes.
const aroundMedia = 1024

// medium returns the envelope of mcp_result_image and mcp_result_audio (SDK-77). The envelope of
// a file that cannot be sent contains the reason.
func medium(args []string, _ []byte) ([]byte, int) {
	limit, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, exitUsage
	}
	kind, file, mimeType := args[0], args[2], ""
	if len(args) > 3 {
		mimeType = args[3]
	}
	fault := func(text string) ([]byte, int) {
		text = "mcp_result_" + kind + ": " + text + ": " + file
		var b rawjson.Builder
		b.Object().Name("type").String("internal_error").Name("message").String(text).End()
		return append(errorEnvelope(text, b.Bytes()), '\n'), exitOK
	}
	room := max(0, (limit-aroundMedia)/4*3)
	data, err := boundedfile.ReadHead(file, room+1)
	if err != nil {
		return fault(err.Error())
	}
	if mimeType == "" {
		mimeType = media.ByMagic(data)
	}
	if mimeType == "" && strings.EqualFold(filepath.Ext(file), ".svg") {
		mimeType = media.ByName(file)
	}
	switch {
	case !strings.HasPrefix(mimeType, kind+"/"):
		return fault(fmt.Sprintf("neither name nor content show its type, give it as well (%s/...)", kind))
	case len(data) > room:
		return fault(fmt.Sprintf("too large for a result of %d bytes (MCPBASH_MAX_TOOL_OUTPUT_SIZE)", limit))
	}
	var b rawjson.Builder
	b.Object().Name("content").Array().Object().
		Name("type").String(kind).
		Name("data").String(base64.StdEncoding.EncodeToString(data)).
		Name("mimeType").String(mimeType).End().End().
		Name("isError").Bool(false).End()
	return append(b.Bytes(), '\n'), exitOK
}

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
