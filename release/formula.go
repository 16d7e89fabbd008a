package main

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// writeFormula writes the formula for Homebrew, which installs the same archives
// (CLI-1710). It names their addresses, so one is needed.
func (r *release) writeFormula() error {
	if r.base == "" {
		fmt.Println("no formula: it needs -base-url, the address of the archives")
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, `class McpBash < Formula
  desc "Turn a folder of shell scripts into a Model Context Protocol server"
  homepage "%s"
  version "%s"
  license "MIT"
`, r.base, cli.Version)
	for _, system := range []struct{ os, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var stanzas strings.Builder
		for _, cpu := range []struct{ arch, block string }{{"amd64", "on_intel"}, {"arm64", "on_arm"}} {
			t := runtimes.Target{OS: system.os, Arch: cpu.arch}
			if !r.hasTarget(t) {
				continue
			}
			sum, err := r.sum(t.Archive(runtimes.Tag))
			if err != nil {
				return err
			}
			fmt.Fprintf(&stanzas, "    %s do\n      url \"%s/v%s/%s\"\n      sha256 \"%s\"\n    end\n", cpu.block,
				r.base, cli.Version, t.Archive(runtimes.Tag), sum)
		}
		if stanzas.Len() > 0 {
			fmt.Fprintf(&b, "\n  %s do\n%s  end\n", system.block, stanzas.String())
		}
	}
	b.WriteString(`
  def install
    libexec.install Dir["*"]
    (libexec/"bin").glob("mcp-*").each do |command|
      bin.install_symlink command unless command.basename.to_s == "mcp-jq"
    end
    bash_completion.install_symlink (libexec/"share/bash-completion/completions").children
    zsh_completion.install_symlink (libexec/"share/zsh/site-functions").children
    fish_completion.install_symlink (libexec/"share/fish/vendor_completions.d").children
    man1.install_symlink (libexec/"share/man/man1").children
  end

  test do
    assert_equal "mcp-bash #{version}\n", shell_output("#{bin}/mcp-bash --version")
  end
end
`)
	return write(r.asset("mcp-bash.rb"), []byte(b.String()), 0o644)
}
