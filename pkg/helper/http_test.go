package helper

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The content of a request can arrive after its description.
func TestRequestInParts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write([]byte(r.Method + " " + r.URL.Path + " " + string(body)))
	}))
	defer server.Close()
	content := strings.Repeat("x", 1000)
	in := io.MultiReader(strings.NewReader(`{"method":"POST","url":"`+server.URL+`/a","limit":5000}`+"\n"),
		strings.NewReader(content))
	var out, messages bytes.Buffer
	if code := httpRequest(in, &out, &messages); code != exitOK || out.String() != "200 1008\nPOST /a "+content {
		t.Errorf("%d: %s%s", code, out.String(), messages.String())
	}
}
