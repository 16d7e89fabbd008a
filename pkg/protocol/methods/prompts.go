package methods

import (
	"context"

	"mcp-bash/pkg/feature/completion"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
)

// getPrompt answers prompts/get (tools section 15).
func (c *Client) getPrompt(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	result, err := c.prompts.Get(ctx, &prompt.Request{
		Name: rawjson.TextOf(r.Params, "name"), Arguments: rawjson.Get(r.Params, "arguments"),
		Client: *r.Client.Capabilities, Asker: r.Client.Asker,
	})
	if err != nil {
		return nil, err
	}
	return &calls.Answer{Size: result.Size(), Append: result.AppendJSON}, nil
}

// promptAsks reports whether a prompt asks the client for missing arguments (M-58).
func (c *Client) promptAsks(r *calls.Request) bool {
	return r.Client.Capabilities.ElicitForm && c.prompts.Asks(r.Context, rawjson.TextOf(r.Params, "name"))
}

// completeArgument answers completion/complete (tools section 16).
func (c *Client) completeArgument(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	result, err := c.complete.Complete(ctx, &completion.Request{
		Ref: rawjson.Get(r.Params, "ref"), Argument: rawjson.Get(r.Params, "argument"),
		Arguments: rawjson.Path(r.Params, "context", "arguments"),
		Limit:     rawjson.PositiveInt(rawjson.Get(r.Params, "limit")), Cursor: rawjson.Get(r.Params, "cursor"), Slot: r,
	})
	if err != nil {
		return nil, err
	}
	return &calls.Answer{Size: result.Size(), Append: result.AppendJSON}, nil
}
