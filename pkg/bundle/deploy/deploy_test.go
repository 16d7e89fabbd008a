package deploy

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

var rewrite = flag.Bool("write", false, "write the files of testdata anew")

// demo returns an example project.
func demo() *project.Project {
	return &project.Project{Root: "/srv/demo", Meta: project.Meta{
		Name: "demo", Version: "1.2.0+build", Title: "Demo: \"50 %\" of it", Description: "It's a demo.\nReally: {name}\\",
	}}
}

// documents returns the documents of a file of YAML.
func documents(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	d := yamlv3.NewDecoder(strings.NewReader(text))
	for {
		var one map[string]any
		switch err := d.Decode(&one); {
		case err == io.EOF:
			return list
		case err != nil:
			t.Fatalf("%v in\n%s", err, text)
		}
		list = append(list, one)
	}
}

// at returns the value at a path of a document.
func at(value any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := value.(map[string]any)
			value = m[s]
		case int:
			l, _ := value.([]any)
			if s >= len(l) {
				return nil
			}
			value = l[s]
		}
	}
	return value
}

// H-700: the files of every format, without options and with as many as possible.
func TestFiles(t *testing.T) {
	for folder, o := range map[string]Options{
		"kubernetes":     {},
		"kubernetes-one": {Format: "kubernetes", Replicas: 1},
		"kubernetes-all": {Format: "kubernetes", Name: "yes", Image: "registry.example.com:5000/team/demo@sha256:" +
			strings.Repeat("0a", 32), Namespace: "tools", Host: "mcp.example.com", TokenSecret: "demo.tokens", Replicas: 3},
		"toolhive":       {Format: "toolhive"},
		"toolhive-all":   {Format: "toolhive", Namespace: "tools", Host: "mcp.example.com", Replicas: 4},
		"docker-catalog": {Format: "docker-catalog"},
		"systemd":        {Format: "systemd", Host: "mcp.example.com"},
	} {
		r, err := Make(demo(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files {
			golden := filepath.Join("testdata", folder, f.Name)
			if *rewrite {
				err := errors.Join(os.MkdirAll(filepath.Dir(golden), 0o755), os.WriteFile(golden, []byte(f.Text), 0o644))
				if err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || f.Text != string(want) {
				t.Errorf("%v, %s:\n%s", err, golden, f.Text)
			}
			if strings.ContainsAny(f.Text, "\t\r") || strings.Contains(f.Text, " \n") || strings.Contains(f.Text, "\n?") {
				t.Errorf("%s has tabs, spaces at the end of a line, or a condition", golden)
			}
		}
		again, err := Make(demo(), o)
		if err != nil || !bytes.Equal(r.AppendJSON(nil), again.AppendJSON(nil)) {
			t.Errorf("%s differs the second time, %v", folder, err)
		}
		if _, err := rawjson.Check(r.AppendJSON(nil)); err != nil {
			t.Error(err)
		}
		list := r.Decisions()
		if len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.HasSuffix(s, ": ") }) {
			t.Errorf("%s: %q", folder, list)
		}
	}
}

// H-703: pods have the rights of H-703, and their time to end fits the drain.
func TestHardening(t *testing.T) {
	for _, o := range []Options{{}, {Replicas: 1}, {Format: "toolhive"}} {
		r, err := Make(demo(), o)
		if err != nil {
			t.Fatal(err)
		}
		pod := at(documents(t, r.Files[0].Text)[0], "spec", "template", "spec")
		if pod == nil {
			pod = at(documents(t, r.Files[0].Text)[0], "spec", "podTemplateSpec", "spec")
		}
		for _, tc := range []struct {
			want any
			path []any
		}{
			{false, []any{"automountServiceAccountToken"}},
			{true, []any{"securityContext", "runAsNonRoot"}},
			{"RuntimeDefault", []any{"securityContext", "seccompProfile", "type"}},
			{true, []any{"containers", 0, "securityContext", "readOnlyRootFilesystem"}},
			{false, []any{"containers", 0, "securityContext", "allowPrivilegeEscalation"}},
			{"ALL", []any{"containers", 0, "securityContext", "capabilities", "drop", 0}},
			{"/tmp", []any{"containers", 0, "volumeMounts", 0, "mountPath"}},
			{true, []any{"containers", 0, "volumeMounts", 1, "readOnly"}},
			{40, []any{"terminationGracePeriodSeconds"}},
		} {
			if got := at(pod, tc.path...); got != tc.want {
				t.Errorf("%+v %v: %v, want %v", o, tc.path, got, tc.want)
			}
		}
	}
}

// H-704: a server reads the token file at the path where it is edited, or where the cluster updates it. A copy of the
// file, or a mount of the file alone, would still contain a removed user.
func TestRevocable(t *testing.T) {
	for _, format := range Formats() {
		r, err := Make(demo(), Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Files[0].Text
		for _, form := range []string{"LoadCredential", "subPath", "%d/"} {
			if strings.Contains(text, form) {
				t.Errorf("%s uses %s", format, form)
			}
		}
		mount := map[string]string{
			"kubernetes": "mountPath: /run/mcp-bash\n", "toolhive": "mountPath: /run/mcp-bash\n",
			"systemd": "\nBindReadOnlyPaths=/etc/mcp-bash/demo\n",
		}[format]
		if mount != "" && (!strings.Contains(text, mount) || !strings.Contains(text, "/tokens.json")) {
			t.Errorf("%s does not mount the folder of tokens.json:\n%s", format, text)
		}
	}
}

// H-702: one replica has no autoscaler, no disruption budget and no other replicas to reach.
func TestOneReplica(t *testing.T) {
	for replicas, want := range map[int]string{
		1: "Deployment Service NetworkPolicy",
		2: "Deployment Service HorizontalPodAutoscaler PodDisruptionBudget NetworkPolicy",
	} {
		r, err := Make(demo(), Options{Replicas: replicas})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, d := range documents(t, r.Files[0].Text) {
			kinds = append(kinds, d["kind"].(string))
		}
		if got := strings.Join(kinds, " "); got != want || strings.Contains(r.Files[0].Text, "ADVERTISE") != (replicas > 1) {
			t.Errorf("%d: %s", replicas, got)
		}
	}
}

// H-701: the error for an invalid name suggests a valid one.
func TestNames(t *testing.T) {
	long := strings.Repeat("a", 101)
	for _, tc := range []struct {
		o          Options
		want, hint string
	}{
		{Options{Name: "Demo"}, `the name "Demo" cannot be used: for kubernetes`, "--name, such as demo"},
		{Options{Name: "my server!"}, `the name "my server!"`, "such as my-server"},
		{Options{Name: "9lives"}, `the name "9lives"`, "such as server-9lives"},
		{Options{Name: "日本"}, `the name "日本"`, "such as server"},
		{Options{Name: "a-"}, `the name "a-"`, "such as a"},
		{Options{Name: "-a"}, `the name "-a"`, "such as a"},
		{Options{Name: "a\nb: c"}, `the name "a\nb: c"`, "such as a-b-c"},
		{Options{Name: long}, `the name "` + long, "such as " + long[:50]},
		{Options{Format: "toolhive", Name: "a.b"}, "for toolhive", "such as a-b"},
		{Options{Format: "docker-catalog", Name: "a/b"}, "for docker-catalog", "such as a-b"},
		{Options{Format: "systemd", Name: "a%b"}, "for systemd", "such as a-b"},
		{Options{Format: "systemd", Name: "a@b"}, "for systemd", "such as a-b"},
		{Options{Image: "team/UPPER"}, `the image "team/UPPER"`, "--image, such as registry.example.com/team/demo:1.0.0"},
		{Options{Image: "a b"}, `the image "a b"`, "--image"},
		{Options{Image: "https://r.example.com/a"}, "the image", "--image"},
		{Options{Image: "a:"}, "the image", "--image"},
		{Options{Image: "r.example.com:99999/a:1"}, "the image", "--image"},
		{Options{Image: "a@sha256:0"}, "the image", "--image"},
		{Options{Image: "a # b"}, "the image", "--image"},
		{Options{Image: "a\nb"}, "the image", "--image"},
		{Options{Namespace: "Tools"}, `the namespace "Tools"`, "--namespace, such as tools"},
		{Options{Namespace: "a.b"}, `the namespace "a.b"`, "such as a-b"},
		{Options{Namespace: "a; rm -rf"}, "the namespace", "such as a-rm-rf"},
		{Options{Host: "https://mcp.example.com"}, "the host", "without https://"},
		{Options{Host: "mcp.example.com:8000"}, "the host", "without a port"},
		{Options{Host: "mcp..example.com"}, "the host", "--host"},
		{Options{Host: "*.example.com"}, "the host", "--host"},
		{Options{Host: strings.Repeat("a.", 127) + "a"}, "the host", "--host"},
		{Options{TokenSecret: "A_b"}, `the Secret "A_b"`, "--token-secret, such as a-b"},
		{Options{TokenSecret: "$(id)"}, "the Secret", "--token-secret, such as id"},
		{Options{Format: "systemd", Image: "a"}, "--image: a unit of systemd starts no image", ""},
		{Options{Format: "systemd", Namespace: "a"}, "--namespace: not used by systemd", ""},
		{Options{Format: "docker-catalog", Replicas: 2}, "--replicas: not used by docker-catalog", ""},
		{Options{Format: "docker-catalog", Host: "a"}, "--host: not used by docker-catalog", ""},
		{Options{Format: "systemd", TokenSecret: "a"}, "--token-secret: not used by systemd", ""},
	} {
		r, err := Make(demo(), tc.o)
		var e *cli.Error
		if r != nil || !errors.As(err, &e) || !strings.Contains(e.Error(), tc.want) || !strings.Contains(e.Hint, tc.hint) {
			t.Errorf("%+v: %v", tc.o, err)
		}
	}
	for _, root := range []string{
		"/home/ann/my project", "/srv/a:b", "/srv/50%", "/srv/é", "/srv/a\nb", `/srv/a"b`, `C:\demo`,
	} {
		p := demo()
		p.Root = root
		if _, err := Make(p, Options{Format: "systemd"}); err == nil || !strings.Contains(err.Error(), "/srv/demo") {
			t.Errorf("%s: %v", root, err)
		}
	}
	for _, image := range []string{
		"a", "a:1", "localhost/a:1", "localhost:5000/a", "r.example.com/a/b__c/d-e.f:V1_0",
		"a@sha256:" + strings.Repeat("f", 64),
	} {
		if r, err := Make(demo(), Options{Image: image}); err != nil || r.Image != image {
			t.Errorf("%s: %v", image, err)
		}
	}
}

// The default image has the name that `mcp-bundle image` gives it. Its tags have no "+".
func TestDefaultImage(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.0": "demo:1.2.0", "1.2.0+a": "demo:1.2.0-a", "": "demo:latest", "...": "demo:latest", "日": "demo:latest",
	} {
		p := demo()
		p.Meta.Version = version
		if r, err := Make(p, Options{}); err != nil || r.Image != want {
			t.Errorf("%q: %v, want %s", version, r, want)
		}
	}
}

// H-701: texts of a project stay texts. No part of them becomes a key, a document or a directive.
func FuzzMake(f *testing.F) {
	f.Add("Demo", "A demo", "mcp.example.com", "demo")
	f.Add("a: b # c\n---\nkind: Secret", "'\"\\\u2028{name}\x00", "h\n", "null")
	f.Add("\u0085x\x1b[31m\ufeff", "- a\n- !!python/object", "", "true")
	f.Add("x\\", "%n", "a%b", "y")
	f.Fuzz(func(t *testing.T, title, description, host, name string) {
		p := demo()
		p.Meta.Title, p.Meta.Description, p.Meta.Name = title, description, name
		for _, format := range Formats() {
			o := Options{Format: format, Image: "demo:1"}
			if format == "systemd" {
				o = Options{Format: format, Host: host}
			}
			r, err := Make(p, o)
			if err != nil {
				var e *cli.Error
				if !errors.As(err, &e) || e.Hint == "" {
					t.Fatalf("no remedy: %v", err)
				}
				continue
			}
			o.Name = name
			want, err := Make(demo(), o)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range r.Files {
				if a, b := strings.Count(f.Text, "\n"), strings.Count(want.Files[i].Text, "\n"); a != b {
					t.Fatalf("%d lines, not %d:\n%s", a, b, f.Text)
				}
				if format == "systemd" {
					if strings.Contains(f.Text, "\\\n") {
						t.Fatalf("a line continues:\n%s", f.Text)
					}
					continue
				}
				got := documents(t, f.Text)
				if len(got) != len(documents(t, want.Files[i].Text)) {
					t.Fatalf("%d documents:\n%s", len(got), f.Text)
				}
				if format == "docker-catalog" {
					text := at(got[0], "registry", name, "title")
					if title != "" && oneLine(title) != "" && text != oneLine(title) {
						t.Fatalf("%q, not %q:\n%s", text, oneLine(title), f.Text)
					}
				}
			}
		}
	})
}
