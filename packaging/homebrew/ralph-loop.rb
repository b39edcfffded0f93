# Homebrew formula. `cargo xtask dist` fills in the version and the digests of the tarballs.
class RalphLoop < Formula
  desc "Run a coding agent again and again until the work is verifiably done"
  homepage "{repository}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "{repository}/releases/download/v{version}/ralph-{version}-aarch64-apple-darwin.tar.gz"
      sha256 "{sha256:aarch64-apple-darwin}"
    end
    on_intel do
      url "{repository}/releases/download/v{version}/ralph-{version}-x86_64-apple-darwin.tar.gz"
      sha256 "{sha256:x86_64-apple-darwin}"
    end
  end

  on_linux do
    on_arm do
      url "{repository}/releases/download/v{version}/ralph-{version}-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "{sha256:aarch64-unknown-linux-gnu}"
    end
    on_intel do
      url "{repository}/releases/download/v{version}/ralph-{version}-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "{sha256:x86_64-unknown-linux-gnu}"
    end
  end

  depends_on "git"

  def install
    bin.install "ralph"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/ralph.bash" => "ralph"
    zsh_completion.install "completions/_ralph"
    fish_completion.install "completions/ralph.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ralph --version")
    system bin/"ralph", "demo"
  end
end
