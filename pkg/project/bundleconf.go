package project

// A BundleSetting is a variable of mcpb.conf.
type BundleSetting struct {
	Name    string
	FromEnv bool // it may come from the environment as well (CLI-1406)
}

// BundleSettings are all variables of mcpb.conf.
var BundleSettings = []BundleSetting{
	{"MCPB_NAME", false}, {"MCPB_VERSION", false}, {"MCPB_DESCRIPTION", false}, {"MCPB_LONG_DESCRIPTION_FILE", true},
	{"MCPB_AUTHOR_NAME", false}, {"MCPB_AUTHOR_EMAIL", false}, {"MCPB_AUTHOR_URL", false}, {"MCPB_REPOSITORY", false},
	{"MCPB_INCLUDE", false}, {"MCPB_STATIC", false}, {"MCPB_LICENSE", false}, {"MCPB_HOMEPAGE", false},
	{"MCPB_DOCUMENTATION", false}, {"MCPB_SUPPORT", false}, {"MCPB_KEYWORDS", false}, {"MCPB_PRIVACY_POLICIES", false},
	{"MCPB_COMPAT_CLAUDE_DESKTOP", false}, {"MCPB_RUNTIME_PYTHON", false}, {"MCPB_RUNTIME_NODE", false},
	{"MCPB_USER_CONFIG_FILE", true}, {"MCPB_USER_CONFIG_ENV_MAP", true}, {"MCPB_USER_CONFIG_ARGS_MAP", true},
}
