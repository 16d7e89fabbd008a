package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"mcp-bash/pkg/bundle/deploy"
	"mcp-bash/pkg/project"
)

// files returns the files of a deployment.
func files(t *testing.T, o deploy.Options) *deploy.Result {
	t.Helper()
	p := &project.Project{Root: "/srv/demo", Meta: project.Meta{Name: "demo", Version: "1.0.0", Title: "Demo: a # b",
		Description: "yes"}}
	r, err := deploy.Make(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// objects are the kinds of a manifest of Kubernetes, with the types of k8s.io/api.
type objects struct {
	deployment appsv1.Deployment
	service    corev1.Service
	scaler     autoscalingv2.HorizontalPodAutoscaler
	budget     policyv1.PodDisruptionBudget
	network    networkingv1.NetworkPolicy
	kinds      []string
}

// decode decodes a manifest strictly: a field that a type does not have, or has twice, is an error.
func decode(t *testing.T, text string) (o objects) {
	t.Helper()
	for document := range strings.SplitSeq(text, "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		into := map[string]any{
			"apps/v1 Deployment": &o.deployment, "v1 Service": &o.service,
			"autoscaling/v2 HorizontalPodAutoscaler": &o.scaler, "policy/v1 PodDisruptionBudget": &o.budget,
			"networking.k8s.io/v1 NetworkPolicy": &o.network,
		}[kind.APIVersion+" "+kind.Kind]
		if into == nil {
			t.Fatalf("unexpected %+v in\n%s", kind, document)
		}
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			t.Errorf("%s: %v\n%s", kind.Kind, err, document)
		}
		o.kinds = append(o.kinds, kind.Kind)
	}
	return o
}

// H-700, H-702: the objects of Kubernetes refer to each other by the right names.
func TestKubernetes(t *testing.T) {
	for _, options := range []deploy.Options{
		{}, {Replicas: 1}, {Name: "null", Namespace: "tools", Host: "mcp.example.com", TokenSecret: "my.tokens", Replicas: 7},
	} {
		r := files(t, options)
		o := decode(t, r.Files[0].Text)
		d := o.deployment
		pod := d.Spec.Template
		container := pod.Spec.Containers[0]
		for _, meta := range []metav1.ObjectMeta{d.ObjectMeta, o.service.ObjectMeta, o.network.ObjectMeta} {
			if meta.Name != r.Name || meta.Namespace != options.Namespace {
				t.Errorf("%s %s", meta.Namespace, meta.Name)
			}
			for key, value := range meta.Labels {
				if list := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(list) > 0 {
					t.Errorf("%s: %s: %q", key, value, list)
				}
			}
		}
		podLabels := labels.Set(pod.Labels)
		selects := func(what string, s *metav1.LabelSelector) {
			t.Helper()
			selector, err := metav1.LabelSelectorAsSelector(s)
			if err != nil || selector.Empty() || !selector.Matches(podLabels) {
				t.Errorf("%s selects %v, not the pods %v (%v)", what, selector, podLabels, err)
			}
		}
		selects("the Deployment", d.Spec.Selector)
		selects("the NetworkPolicy", &o.network.Spec.PodSelector)
		if selector := labels.SelectorFromSet(o.service.Spec.Selector); selector.Empty() || !selector.Matches(podLabels) {
			t.Errorf("the Service selects %v", selector)
		}
		port := container.Ports[0]
		for _, probe := range []*corev1.Probe{container.StartupProbe, container.ReadinessProbe, container.LivenessProbe} {
			if probe.HTTPGet.Port.StrVal != port.Name {
				t.Errorf("%+v", probe)
			}
		}
		if o.service.Spec.Ports[0].TargetPort.StrVal != port.Name ||
			o.network.Spec.Ingress[0].Ports[0].Port.StrVal != port.Name {
			t.Error("the ports have other names than the pods")
		}
		env := map[string]string{}
		for _, one := range container.Env {
			if _, there := env[one.Name]; there {
				t.Errorf("%s is set twice", one.Name)
			}
			env[one.Name] = one.Value
		}
		if want := fmt.Sprintf("0.0.0.0:%d", port.ContainerPort); env["MCPBASH_HTTP_ADDR"] != want {
			t.Errorf("%q, want %q", env["MCPBASH_HTTP_ADDR"], want)
		}
		if options.Host != "" { // H-702: the cluster replaces variables that are defined before
			service := o.service.Name
			want := []string{options.Host, service, service + ".N", service + ".N.svc", service + ".N.svc.cluster.local"}
			got := strings.Fields(strings.ReplaceAll(env["MCPBASH_HTTP_ALLOWED_HOSTS"], "$(POD_NAMESPACE)", "N"))
			at := func(name string) int {
				return slices.IndexFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == name })
			}
			if first := at("POD_NAMESPACE"); !slices.Equal(got, want) || first < 0 || first > at("MCPBASH_HTTP_ALLOWED_HOSTS") ||
				container.Env[first].ValueFrom.FieldRef.FieldPath != "metadata.namespace" {
				t.Errorf("%q, want %q", got, want)
			}
		}
		mounts := map[string]string{}
		for _, m := range container.VolumeMounts {
			mounts[m.Name] = m.MountPath
		}
		for _, v := range pod.Spec.Volumes {
			if mounts[v.Name] == "" {
				t.Errorf("%s is mounted nowhere", v.Name)
			}
			inside := strings.HasPrefix(env["MCPBASH_HTTP_TOKEN_FILE"], mounts[v.Name]+"/")
			if v.Secret != nil && (!inside || *v.Secret.DefaultMode != 0o440 || *v.Secret.Optional) {
				t.Errorf("%+v, %v", v.Secret, env)
			}
		}
		var delay, drain int64
		fmt.Sscan(env["MCPBASH_HTTP_DRAIN_DELAY"], &delay)
		fmt.Sscan(env["MCPBASH_HTTP_DRAIN"], &drain)
		if grace := *pod.Spec.TerminationGracePeriodSeconds; delay <= 0 || drain <= 0 || grace <= delay+drain {
			t.Errorf("%d s for a delay of %d s and a drain of %d s", grace, delay, drain)
		}
		if options.Replicas == 1 {
			if d.Spec.Replicas == nil || *d.Spec.Replicas != 1 || len(o.kinds) != 3 {
				t.Errorf("%q", o.kinds)
			}
			continue
		}
		selects("the PodDisruptionBudget", o.budget.Spec.Selector)
		for _, spread := range pod.Spec.TopologySpreadConstraints {
			selects("a spread constraint", spread.LabelSelector)
		}
		target := autoscalingv2.CrossVersionObjectReference{APIVersion: d.APIVersion, Kind: d.Kind, Name: d.Name}
		if got := o.scaler.Spec.ScaleTargetRef; got != target {
			t.Errorf("%+v", got)
		}
		if o.scaler.Spec.MaxReplicas < *o.scaler.Spec.MinReplicas || d.Spec.Replicas != nil {
			t.Errorf("%+v", o.scaler.Spec)
		}
		if requests := container.Resources.Requests; requests.Cpu().IsZero() {
			t.Error("the autoscaler needs a request for the processor")
		}
	}
}

// toolhive is the release whose CustomResourceDefinition is compared, and the hash of its module.
const (
	toolhive    = "github.com/stacklok/toolhive@v0.47.0"
	toolhiveSum = "h1:2GBpOHfuQg/1j0gK26iwvn8/qKSpfauHBhpnTHTsiO4="
)

// H-700: the MCPServer has the form of ToolHive's CustomResourceDefinition, which has no unknown fields. It comes with
// ToolHive's module; the module is only read.
func TestToolHive(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", toolhive)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go.mod"), []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); err != nil || jsonErr != nil || module.Sum != toolhiveSum {
		t.Fatalf("%s: %v\n%s", toolhive, err, out)
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "deploy", "charts", "operator-crds", "files", "crds",
		"toolhive.stacklok.dev_mcpservers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Group string
			Names struct{ Kind string }

			Versions []struct {
				Name    string
				Storage bool
				Schema  struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	var schema *jsonschema.Resolved
	var version string
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			version = crd.Spec.Group + "/" + v.Name
			schema = resolve(t, v.Schema.OpenAPIV3Schema)
		}
	}
	for _, o := range []deploy.Options{
		{Format: "toolhive"},
		{Format: "toolhive", Namespace: "tools", Host: "mcp.example.com", TokenSecret: "my.tokens", Replicas: 1},
	} {
		text := []byte(files(t, o).Files[0].Text)
		var server map[string]any
		if err := yaml.UnmarshalStrict(text, &server); err != nil {
			t.Fatal(err)
		}
		if server["apiVersion"] != version || server["kind"] != crd.Spec.Names.Kind {
			t.Errorf("%v %v, want %s %s", server["apiVersion"], server["kind"], version, crd.Spec.Names.Kind)
		}
		if err := schema.Validate(server); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		// The operator merges the pod's template, which has a type of Kubernetes.
		template, err := json.Marshal(server["spec"].(map[string]any)["podTemplateSpec"])
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(template))
		d.DisallowUnknownFields()
		var pod corev1.PodTemplateSpec
		if err := d.Decode(&pod); err != nil || pod.Spec.Containers[0].Name != "mcp" {
			t.Errorf("%v, %+v", err, pod)
		}
		server["spec"].(map[string]any)["unknown"] = 1
		if schema.Validate(server) == nil {
			t.Error("an unknown field is accepted, so the schema tests nothing")
		}
	}
}

// resolve returns a schema of OpenAPI as a JSON Schema. It rejects unknown fields, as the API server does in its strict
// mode.
func resolve(t *testing.T, schema map[string]any) *jsonschema.Resolved {
	t.Helper()
	var strict func(value any)
	strict = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			_, properties := v["properties"].(map[string]any)
			_, more := v["additionalProperties"]
			if properties && !more && v["x-kubernetes-preserve-unknown-fields"] != true {
				v["additionalProperties"] = false
			}
			if v["x-kubernetes-int-or-string"] == true {
				delete(v, "type")
			}
			delete(v, "format") // int32 and others are not formats of JSON Schema
			for _, one := range v {
				strict(one)
			}
		case []any:
			for _, one := range v {
				strict(one)
			}
		}
	}
	properties := schema["properties"].(map[string]any)
	strict(properties["spec"])
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// A catalog is a file of Docker's MCP gateway, with the fields that a server in a container can have. The fields are
// in docker/mcp-gateway, pkg/catalog/types.go (October 2026). The module is not on the Go proxy.
type catalog struct {
	Name, DisplayName string
	Registry          map[string]struct {
		Name, Type, Image, Description, Title, Icon, Readme, User, Prefix string

		LongLived, DisableNetwork bool
		Secrets                   []struct{ Name, Env string }
		Env                       []struct{ Name, Value string }
		Command, Volumes          []string
		AllowHosts, ExtraHosts    []string
		Tools                     []struct{ Name, Description string }
		Config                    []any
		Metadata                  struct{ Category, License, Owner, RegistryURL string }
	}
}

// H-700: the catalogue of Docker's gateway has its fields, and one server of the type that starts an image.
func TestDockerCatalog(t *testing.T) {
	var c catalog
	r := files(t, deploy.Options{Format: "docker-catalog"})
	if err := yaml.UnmarshalStrict([]byte(r.Files[0].Text), &c); err != nil {
		t.Fatal(err)
	}
	server := c.Registry["demo"]
	if len(c.Registry) != 1 || server.Type != "server" || server.Image != "demo:1.0.0" || server.Title != "Demo: a # b" ||
		server.Description != "yes" || c.Name != "demo" {
		t.Errorf("%+v", c)
	}
}
