{
  description = "Run a coding agent again and again until the work is verifiably done";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" "x86_64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = each (pkgs: rec {
        default = ralph-loop;
        ralph-loop = pkgs.rustPlatform.buildRustPackage {
          pname = "ralph-loop";
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildAndTestSubdir = "crates/ralph";
          # The settings in .cargo/config.toml link statically, for which nixpkgs has a libc of its own.
          postPatch = "rm .cargo/config.toml";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # They need agents, browsers and namespaces: `cargo xtask ci` runs them.
          doCheck = false;
          postInstall = ''
            $out/bin/ralph man --dir man
            installManPage man/*.1
            installShellCompletion --cmd ralph \
              --bash <($out/bin/ralph completions bash) \
              --zsh <($out/bin/ralph completions zsh) \
              --fish <($out/bin/ralph completions fish)
          '';
          meta = {
            description = "Run a coding agent again and again until the work is verifiably done";
            homepage = manifest.repository;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "ralph";
            platforms = systems;
          };
        };
      });
    };
}
