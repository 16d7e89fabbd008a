// Mcpgo is a server made with mark3labs/mcp-go.
package main

import (
	"context"
	"encoding/json"
	"log"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mcp-bash/bench/peers/peer"
	"mcp-bash/bench/work"
)

func main() {
	p := peer.New()
	s := server.NewMCPServer("mcpgo", "1.0.0", server.WithToolCapabilities(true))
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
	if err := server.ServeStdio(s); err != nil {
		log.Fatal(err)
	}
}
