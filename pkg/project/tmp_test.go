package project

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// P-300: a missing base of temporary files causes a warning, and the next base is used. It is not created.
func TestMissingTmp(t *testing.T) {
	dir := t.TempDir()
	absent := filepath.Join(dir, "absent")
	for _, tc := range []struct {
		env  Env
		name string // of the variable to correct
	}{
		{Env{"TMPDIR": absent, "RUNNER_TEMP": dir}, "TMPDIR"},
		{Env{"MCPBASH_TMP_ROOT": absent + "/deep/", "TMPDIR": dir}, "MCPBASH_TMP_ROOT"},
		{Env{"MCPBASH_TMP_ROOT": absent, "TMPDIR": dir, "MCPBASH_LOG_DIR": absent + "/logs"}, "MCPBASH_TMP_ROOT"},
	} {
		var said []string
		p := Open(dir, tc.env, dir, func(text string) { said = append(said, text) })
		state, _, err := NewState(tc.env, &p.Settings)
		if err != nil {
			t.Errorf("%v: %v", tc.env, err)
			continue
		}
		if filepath.Dir(state.Dir) != dir {
			t.Errorf("%v: %s", tc.env, state.Dir)
		}
		want := "mcp-bash: " + tc.name + " does not exist: " + strings.TrimSuffix(tc.env[tc.name], "/") +
			"; create it, or set " + tc.name + " to a directory that exists"
		if !slices.Equal(said, []string{want}) {
			t.Errorf("%v: said %q", tc.env, said)
		}
	}
	// The unpacked tree goes by the same rule, and HOME is not made either.
	env := Env{"HOME": absent, "TMPDIR": absent, "RUNNER_TEMP": dir}
	home, err := FindHome(env, func() Tree { return Tree{} }, func(text string) { t.Error(text) })
	if err != nil || !strings.HasPrefix(home.Dir, dir+"/mcpbash.home.") {
		t.Errorf("%+v %v", home, err)
	}
	if exists(absent) {
		t.Error("the directory was made")
	}
	var said []string
	if Open(dir, Env{"TMPDIR": dir}, dir, func(text string) { said = append(said, text) }); said != nil {
		t.Errorf("said %q where nothing is missing", said)
	}
}
