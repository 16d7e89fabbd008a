// Gosdk is a server made with the official Go SDK.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/bench/others/common"
	"mcp-bash/bench/work"
)

func main() {
	p := common.New()
	options := &mcp.ServerOptions{}
	if p.Content != "" {
		options.CompletionHandler = complete
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, options)
	if p.Content != "" {
		offer(server, p)
	}
	for _, name := range p.Tools {
		tool := &mcp.Tool{Name: name, Description: work.Description(name), InputSchema: json.RawMessage(work.Schema)}
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := p.Call(ctx, name, r.Params.Arguments)
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	var err error
	if p.HTTP {
		err = common.Serve(overHTTP(server))
	} else {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// overHTTP serves both protocols. The SDK needs a handler for each. Answers are JSON, which is faster than a
// stream.
func overHTTP(server *mcp.Server) http.Handler {
	handler := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: true})
	}
	sessions, stateless := handler(false), handler(true)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			stateless.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(w, r)
		}
	})
}

// offer adds the resources and the prompt.
func offer(server *mcp.Server, p *common.Server) {
	for _, name := range work.Resources {
		file := work.Resource(p.Content, name)
		resource := &mcp.Resource{Name: name, URI: "file://" + file, MIMEType: "text/plain"}
		server.AddResource(resource, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult,
			error) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			contents := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: string(text)}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
		})
	}
	prompt := &mcp.Prompt{Name: work.Prompt, Description: work.PromptDescription, Arguments: []*mcp.PromptArgument{
		{Name: work.Argument, Description: work.ArgumentUse, Required: true},
	}}
	server.AddPrompt(prompt, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: work.PromptDescription, Messages: []*mcp.PromptMessage{
			{Role: "user", Content: &mcp.TextContent{Text: p.Prompt(r.Params.Arguments)}},
		}}, nil
	})
}

func complete(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: work.Suggestions(r.Params.Argument.Value)}},
		nil
}
