package telemetry

import (
	"cmp"
	"context"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// maxResources bounds the number of servers. Their names come from the lines.
const maxResources = 200

// Resources are the servers that wrote the lines.
type Resources struct {
	base *resource.Resource
	host string
	all  map[server]*resource.Resource
}

// A server has the texts that identify it.
type server struct{ Component, Replica string }

// NewResources returns resources with the attributes of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME, which take
// precedence over those of the lines.
func NewResources() (*Resources, error) {
	base, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	return &Resources{base: base, host: host, all: map[server]*resource.Resource{}}, nil
}

func (r *Resources) of(l *line) *resource.Resource { return r.ofServer(server{l.component, l.replica}) }

func (r *Resources) ofServer(s server) *resource.Resource {
	if r.all[s] == nil && len(r.all) >= maxResources {
		s = server{}
	}
	if r.all[s] == nil {
		own := resource.NewSchemaless(attribute.String("service.name", cmp.Or(s.Component, "mcp-bash")),
			attribute.String("service.instance.id", cmp.Or(s.Replica, r.host)))
		merged, err := resource.Merge(own, r.base)
		if err != nil { // two schemas, but ours has no schema
			merged = r.base
		}
		r.all[s] = merged
	}
	return r.all[s]
}
