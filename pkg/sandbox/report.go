package sandbox

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
)

// Report describes the mode and the restrictions that the kernel does not support (CF-33):
// {"mode":"declared","landlock":7,"seccomp":true,"lacks":[]}.
func Report(mode access.Confinement, k confine.Kernel) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("mode").String(mode.String())
	return appendKernel(&b, k).End().Bytes()
}

// KernelReport is the part of [Report] about the kernel.
func KernelReport(k confine.Kernel) json.RawMessage {
	var b rawjson.Builder
	return appendKernel(b.Object(), k).End().Bytes()
}

func appendKernel(b *rawjson.Builder, k confine.Kernel) *rawjson.Builder {
	b.Name("landlock").Int(k.ABI).Name("seccomp").Bool(k.Filters).Name("lacks").Strings(k.Lacks(&confine.Profile{}))
	return b
}
