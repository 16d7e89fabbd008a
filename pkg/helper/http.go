package helper

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// maxRequest is the maximum size of a request's description, in bytes.
const maxRequest = 64 << 10

// httpRequest sends the HTTP request on standard input. The first line is JSON with the method,
// url, header, follow (redirects) and limit (bytes of the answer). The rest is the content of the
// request. It prints a line with the status code and the length of the content, and the content as
// it arrives. The length is -1 if the server does not announce it. The exit code is 1 if the server
// does not answer, or not completely.
func httpRequest(stdin io.Reader, stdout, stderr io.Writer) int {
	in := bufio.NewReaderSize(stdin, maxRequest)
	line, err := in.ReadSlice('\n')
	spec, invalid := rawjson.Check(bytes.Clone(line)) // the next read changes line
	if err != nil || invalid != nil {
		cli.Printf(stderr, "http: invalid request\n")
		return exitUsage
	}
	if err := send(spec, in, stdout); err != nil {
		cli.Printf(stderr, "%s\n", err)
		return exitNo
	}
	return exitOK
}

func send(spec json.RawMessage, body io.Reader, stdout io.Writer) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(rawjson.TextOf(spec, "method"), rawjson.TextOf(spec, "url"), bytes.NewReader(content))
	if err != nil {
		return err
	}
	for name, value := range rawjson.All(rawjson.Get(spec, "header")) {
		text, _ := rawjson.Text(value)
		request.Header.Set(name, text)
	}
	request.Header.Set("User-Agent", "mcp-bash/"+cli.Version)
	client := http.Client{}
	if !rawjson.True(rawjson.Get(spec, "follow")) {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	response, err := client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // without the URL, which the caller knows
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	limit := int64(rawjson.PositiveInt(rawjson.Get(spec, "limit")))
	if _, err := fmt.Fprintf(stdout, "%d %d\n", response.StatusCode, response.ContentLength); err != nil {
		return err
	}
	_, err = io.Copy(stdout, io.LimitReader(response.Body, limit))
	return err
}
