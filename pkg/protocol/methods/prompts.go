package methods

import (
	"context"

	"mcp-bash/pkg/feature/completion"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// getPrompt answers prompts/get (tools section 15).
func (c *Client) getPrompt(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	result, err := c.prompts.Get(ctx, &prompt.Request{
		Name: r.Params.Text(mcp.ParamName), Arguments: r.Params.Get(mcp.ParamArguments),
		Client: *r.Client.Capabilities, Asker: r.Client.Asker,
	})
	if err != nil {
		return nil, err
	}
	return &calls.Answer{Size: result.Size(), Append: result.AppendJSON}, nil
}

// promptAsks reports whether a prompt asks the client for missing arguments (M-58).
func (c *Client) promptAsks(r *calls.Request) bool {
	return r.Client.Capabilities.ElicitForm && c.prompts.Asks(r.Context, r.Params.Text(mcp.ParamName))
}

// completeArgument answers completion/complete (tools section 16).
func (c *Client) completeArgument(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	result, err := c.complete.Complete(ctx, &completion.Request{
		Ref: r.Params.Get(mcp.ParamRef), Argument: r.Params.Get(mcp.ParamArgument),
		Arguments: rawjson.Get(r.Params.Get(mcp.ParamContext), "arguments"),
		Limit:     r.Params.Int(mcp.ParamLimit), Cursor: r.Params.Get(mcp.ParamCursor), Slot: r,
	})
	if err != nil {
		return nil, err
	}
	return &calls.Answer{Size: result.Size(), Append: result.AppendJSON}, nil
}
