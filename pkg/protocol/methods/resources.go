package methods

import (
	"context"

	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// readResource answers resources/read (resources section 4).
func (c *Client) readResource(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	req, err := ResourceRequest(&r.Params)
	if err != nil {
		return nil, err
	}
	if results.Owns(req.URI) {
		part, err := c.results.Read(req.URI)
		if err != nil {
			return nil, err
		}
		return &calls.Answer{Size: part.Size(), Append: part.AppendJSON}, nil
	}
	if req.Slot = r; c.project.engine.Project.Fetching.UseRoots {
		r.Client.Roots(ctx, r) // the provider asks for them later
	}
	content, err := c.Resources.Read(ctx, req)
	if err != nil {
		return nil, err
	}
	answer := &calls.Answer{Size: content.Size(), Append: content.AppendJSON}
	if content.Local() { // M-31
		answer.TTL = c.project.engine.Project.Fetching.Poll
	}
	return answer, nil
}

// ResourceRequest reads the name and the URI of a resource from parameters (RES-30).
func ResourceRequest(params *mcp.Params) (resource.Request, error) {
	req := resource.Request{Bounded: params.Int(mcp.ParamTimeout) > 0}
	for _, m := range []struct {
		param mcp.Param
		text  *string
	}{{mcp.ParamName, &req.Name}, {mcp.ParamURI, &req.URI}} {
		v := params.Get(m.param)
		if rawjson.Absent(v) {
			continue
		}
		text, ok := rawjson.Text(v)
		if !ok {
			return req, errNoResource
		}
		*m.text = text
	}
	if req.Name == "" && req.URI == "" {
		return req, errNoResource
	}
	return req, nil
}

var errNoResource = mcp.Errorf(mcp.CodeInvalidParams, "Resource name or uri required")
