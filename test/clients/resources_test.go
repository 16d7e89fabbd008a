//go:build unix

package clients

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// resource reads a resource that has one content.
func (s *session) resource(uri string) *mcp.ResourceContents {
	s.t.Helper()
	result, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: uri})
	if err != nil || len(result.Contents) != 1 || result.Contents[0].URI != uri {
		s.t.Fatalf("%s: %s, %v", uri, compact(s.t, result), err)
	}
	return result.Contents[0]
}

func (s *session) failResource(uri string, code int64, says string) {
	s.t.Helper()
	if code == -32002 && s.protocol == stateless { // M-40
		code = -32602
	}
	result, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: uri})
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != code || rpc.Message != says {
		s.t.Errorf("%s: %s, %v, want error %d %q", uri, compact(s.t, result), err, code, says)
	}
}

// examples/09-resources (RES-20, RES-34, RES-41, RES-130).
func TestResources(t *testing.T) { withAll(t, testResources) }

func testResources(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "09-resources")
	s := open(t, project, opening{revision: protocol})
	list, err := s.ListResources(s.deadline(), nil)
	if err != nil || len(list.Resources) != 4 {
		t.Fatal(compact(t, list), err)
	}
	byName := map[string]*mcp.Resource{}
	for _, r := range list.Resources {
		byName[r.Name] = r
		s.resource(r.URI)
	}
	tides := byName["tides"]
	if tides == nil || tides.Title != "Tide table" || tides.MIMEType != "text/markdown" || tides.Annotations == nil ||
		tides.Annotations.Priority != 0.8 {
		t.Fatal(compact(t, list))
	}
	want, err := os.ReadFile(filepath.Join(project, "resources/guide/tides.md"))
	if got := s.resource(tides.URI); err != nil || got.Text != string(want) || got.MIMEType != "text/markdown" {
		t.Error(compact(t, got))
	}
	if got := s.resource(byName["buoy"].URI); !strings.HasPrefix(string(got.Blob), "GIF89a") ||
		got.MIMEType != "image/gif" {
		t.Error(compact(t, got))
	}
	if got := s.resource(byName["motto"].URI); got.Text != "Time and tide wait for no one." {
		t.Error(compact(t, got))
	}
	s.failResource("file:///etc/passwd", -32603, "Resource outside allowed roots")
	s.failResource("file://"+project+"/resources/none", -32002, "Resource not found")
}

// examples/09-resources, weather: watched by the official client, which takes
// no result but the protocol's (RES-142 to RES-146).
func TestResourceSubscription(t *testing.T) { withAll(t, testResourceSubscription) }

func testResourceSubscription(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "09-resources")
	updates := make(chan string, 10)
	s := open(t, project, opening{
		revision: protocol,
		env:      map[string]string{"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0.02"},
		client: mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context,
			r *mcp.ResourceUpdatedNotificationRequest) {
			updates <- r.Params.URI
		}},
	})
	uri := "file://" + project + "/resources/weather.txt"
	if err := s.Subscribe(s.deadline(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	if s.protocol == stateless { // the client opens a stream during the call
		eventually(t, "an acknowledgement", func() bool {
			return len(s.tap.messages("notifications/subscriptions/acknowledged")) == 1
		})
	}
	for _, weather := range []string{"storm\n", "calm\n"} {
		write(t, weather, project, "resources", "weather.txt")
		select {
		case got := <-updates:
			if got != uri {
				t.Error(got)
			}
		case <-time.After(patience):
			t.Fatal("no update came")
		}
	}
	if got := s.resource(uri); got.Text != "calm\n" {
		t.Error(compact(t, got))
	}
	if err := s.Unsubscribe(s.deadline(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	err := s.Subscribe(s.deadline(), &mcp.SubscribeParams{URI: "file:///etc/passwd"})
	if s.protocol != stateless && err == nil { // a stream reports it in its acknowledgement, which this client hides
		t.Error("what cannot be read is watched")
	}
}

// examples/10-provider (RES-71, RES-74, RES-161).
func TestProvider(t *testing.T) { withAll(t, testProvider) }

func testProvider(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "10-provider"), opening{revision: protocol})
	templates, err := s.ListResourceTemplates(s.deadline(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 ||
		templates.ResourceTemplates[0].URITemplate != "stock://{article}" {
		t.Fatal(compact(t, templates), err)
	}
	if got := s.resource("stock://all"); got.MIMEType != "text/csv" ||
		!strings.HasPrefix(got.Text, "article,pieces,shelf\n") {
		t.Error(compact(t, got))
	}
	if got := s.resource("stock://wood-screws"); got.Text != `{"article":"wood-screws","pieces":77,"shelf":"B4"}`+"\n" ||
		got.MIMEType != "application/json" {
		t.Error(compact(t, got))
	}
	s.failResource("stock://hammers", -32002, "Resource not found")
	s.failResource("stock://$(id)", -32602, "An article is written in small letters, as in stock://nails.")
	s.failResource("stock://../../etc/passwd", -32602, "An article is written in small letters, as in stock://nails.")
}
