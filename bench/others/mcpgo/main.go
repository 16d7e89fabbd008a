// Mcpgo is a server made with mark3labs/mcp-go.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mcp-bash/bench/others/common"
	"mcp-bash/bench/work"
)

func main() {
	p := common.New()
	options := []server.ServerOption{server.WithToolCapabilities(true)}
	if p.Content != "" {
		options = append(options, server.WithResourceCapabilities(false, true), server.WithPromptCapabilities(true),
			server.WithCompletions(), server.WithPromptCompletionProvider(completions{}))
	}
	s := server.NewMCPServer("mcpgo", "1.0.0", options...)
	if p.Content != "" {
		offer(s, p)
	}
	tools := make([]server.ServerTool, len(p.Tools))
	for i, name := range p.Tools {
		tools[i] = server.ServerTool{
			Tool: mcp.NewToolWithRawSchema(name, work.Description(name), json.RawMessage(work.Schema)),
			Handler: func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				arguments, err := json.Marshal(r.GetRawArguments())
				if err != nil {
					return nil, err
				}
				text, err := p.Call(ctx, name, arguments)
				if err != nil {
					return nil, err
				}
				return mcp.NewToolResultText(text), nil
			},
		}
	}
	s.AddTools(tools...)
	var err error
	if p.HTTP {
		err = common.Serve(server.NewStreamableHTTPServer(s))
	} else {
		err = server.ServeStdio(s)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// offer adds the resources and the prompt.
func offer(s *server.MCPServer, p *common.Server) {
	for _, name := range work.Resources {
		file := work.Resource(p.Content, name)
		resource := mcp.NewResource("file://"+file, name, mcp.WithMIMEType("text/plain"))
		s.AddResource(resource, func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain",
				Text: string(text)}}, nil
		})
	}
	prompt := mcp.NewPrompt(work.Prompt, mcp.WithPromptDescription(work.PromptDescription),
		mcp.WithArgument(work.Argument, mcp.ArgumentDescription(work.ArgumentUse), mcp.RequiredArgument()))
	s.AddPrompt(prompt, func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		message := mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(p.Prompt(r.Params.Arguments)))
		return mcp.NewGetPromptResult(work.PromptDescription, []mcp.PromptMessage{message}), nil
	})
}

type completions struct{}

func (completions) CompletePromptArgument(_ context.Context, _ string, a mcp.CompleteArgument,
	_ mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: work.Suggestions(a.Value)}, nil
}
