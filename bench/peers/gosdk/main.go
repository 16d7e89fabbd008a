// Gosdk is a server made with the official Go SDK.
package main

import (
	"context"
	"encoding/json"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/bench/peers/peer"
	"mcp-bash/bench/work"
)

func main() {
	p := peer.New()
	server := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, nil)
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
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
