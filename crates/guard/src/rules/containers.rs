//! Containers with power over the machine, and their data.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{paths::Place, secrets, text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "container-power",
        category: Category::Containers,
        tier: Tier::Block,
        finds: "gives a container power over the machine",
        instead: "Mount only the project: `docker run --rm -v \"$PWD\":/app -w /app IMAGE`.",
        check: Check::Command(container_power),
        matches: &[
            "docker run --privileged alpine",
            "docker run -v /:/host alpine",
            "docker run --pid=host alpine",
            "docker run --mount type=bind,src=/etc,dst=/e alpine",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
            "podman run --cap-add=SYS_ADMIN x",
            "docker run -v ~/.ssh:/k alpine",
            "docker exec --privileged x sh",
        ],
        passes: &[
            "docker run --rm -v \"$PWD\":/app node:20 npm test",
            "docker run -p 80:80 nginx",
            "docker run -v data:/var/lib/x postgres",
            "docker run -v ./src:/src x",
        ],
    },
    Rule {
        id: "container-data",
        category: Category::Containers,
        tier: Tier::Block,
        finds: "deletes containers, images or volumes wholesale, or volumes with data",
        instead: "Stop and remove the containers that you started, by name, and keep volumes.",
        check: Check::Command(container_data),
        matches: &[
            "docker system prune -af",
            "docker volume rm data",
            "docker rm -f $(docker ps -aq)",
            "docker compose down -v",
            "podman system reset",
            "docker volume prune",
            "docker ps -q | xargs docker kill",
        ],
        passes: &[
            "docker ps -a",
            "docker rm -f web",
            "docker compose down",
            "docker system df",
            "docker volume ls",
            "docker stop web",
        ],
    },
    Rule {
        id: "delete-elsewhere",
        category: Category::Containers,
        tier: Tier::Block,
        finds: "deletes folders of the system or data in a container or on another machine",
        instead: "Make a new container instead of emptying one, and leave other machines alone.",
        check: Check::Command(|input| {
            let is_own =
                |path: &str| matches!(input.place_of(path), Place::Root | Place::System | Place::HomeRoot);
            let found = input.found_any_file_if(|file| file.access.destroys() && is_own(&file.path));
            found.filter(|_| input.command.is_remote)
        }),
        matches: &[
            "docker exec db rm -rf /var/lib/postgresql",
            "kubectl exec -it pod -- rm -rf /data",
            "ssh prod 'rm -rf /var/www'",
        ],
        passes: &[
            "docker exec web rm -rf /app/dist",
            "docker exec web rm -f /tmp/x",
            "docker run --rm x ls /var",
        ],
    },
    Rule {
        id: "container-escape",
        category: Category::Containers,
        tier: Tier::Block,
        finds: "writes where the kernel takes instructions",
        instead: "Leave `/proc` and `/sys` alone.",
        check: Check::Command(container_escape),
        matches: &[
            "echo x > /proc/sys/kernel/core_pattern",
            "echo 1 > /sys/fs/cgroup/release_agent",
            "echo b > /proc/sysrq-trigger",
            "curl --unix-socket /var/run/docker.sock http://x/containers/json",
        ],
        passes: &["cat /proc/cpuinfo", "cat /sys/class/net/eth0/address"],
    },
];

fn container_power(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !command.is(&[
        "docker",
        "podman",
        "nerdctl",
        "docker-compose",
        "lxc",
        "incus",
        "ctr",
        "crictl",
        "singularity",
        "apptainer",
    ]) || command.asks_for_help()
    {
        return None;
    }
    let starts = command
        .words()
        .iter()
        .take(2)
        .any(|word| ["run", "create", "exec", "container", "compose", "launch", "config"].contains(word));
    let flags = command.args.iter().any(|arg| {
        let arg = arg.replace('=', " ");
        let value = |name: &str| arg.strip_prefix(name).map(str::trim);
        arg == "--privileged"
            || arg == "--privileged true"
            || value("--device").is_some()
            || ["--pid", "--ipc", "--uts", "--userns", "--cgroupns"]
                .iter()
                .any(|name| value(name) == Some("host"))
            || value("--security-opt")
                .is_some_and(|value| value.contains("unconfined") || value.contains("disable"))
            || arg.contains("security.privileged true")
    });
    let pairs = ["--pid", "--ipc", "--uts", "--userns", "--cgroupns"]
        .iter()
        .any(|name| command.values("", &[&name[2..]]).contains(&"host"));
    let options = command
        .values("", &["security-opt"])
        .iter()
        .any(|value| value.contains("unconfined") || value.contains("disable"));
    let caps = command.values("", &["cap-add"]).iter().any(|cap| {
        let cap = cap.to_uppercase();
        [
            "ALL",
            "SYS_ADMIN",
            "SYS_PTRACE",
            "SYS_MODULE",
            "DAC_READ_SEARCH",
            "DAC_OVERRIDE",
            "SYS_RAWIO",
            "NET_ADMIN",
        ]
        .iter()
        .any(|bad| cap.ends_with(bad))
    });
    input.found_if(starts && (flags || pairs || options || caps || mounts(input)))
}

/// Whether something that is not ours is mounted.
fn mounts(input: &RuleInput<'_>) -> bool {
    let command = input.command;
    let mut sources: Vec<String> = command
        .values("v", &["volume", "bind"])
        .iter()
        .filter_map(|value| value.split_once(':'))
        .map(|(source, _)| source.to_owned())
        .collect();
    for value in command.values("", &["mount"]) {
        let source = value
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        sources.extend(source.map(str::to_owned));
    }
    sources.iter().any(|source| {
        // A name without a slash is a volume of the container engine.
        let is_path = source.contains('/') || source.starts_with(['~', '.']) || !text::is_known(source);
        let path = command.resolve_path(source, input.ctx);
        let place = input.place_of(&path);
        let is_above = source == ".." || source.starts_with("../..");
        is_path
            && (matches!(place, Place::Root | Place::System | Place::HomeRoot | Place::Unknown)
                || secrets::is_secret(&path, input.ctx)
                || path.ends_with("docker.sock")
                || is_above)
    })
}

fn container_data(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.is_dry_run() {
        return None;
    }
    let wholesale = command.runs(&[
        "docker|podman|nerdctl system prune|reset",
        "docker|podman|nerdctl volume rm|remove|prune",
        "docker|podman|nerdctl container|image|network|builder|buildx prune",
        "docker swarm leave|init",
        "docker stack|service|secret|config|node rm",
        "podman machine rm|reset",
        "docker context rm",
        "lxc|incus delete",
        "multipass delete|purge",
        "vagrant destroy",
        "minikube|kind|k3d delete",
        "k3d cluster delete",
        "colima delete",
        "limactl delete",
        "virsh destroy|undefine|vol-delete|pool-destroy",
        "ctr image|container|namespace rm",
    ]) && !command.runs(&["docker|podman|nerdctl builder|buildx prune"]);
    let many = command.is(&["docker", "podman", "nerdctl"])
        && command.runs(&[
            "docker|podman|nerdctl rm|rmi|kill|stop",
            "docker|podman|nerdctl container|image rm|kill|stop",
        ])
        && (command.args.iter().any(|arg| {
            text::sources(arg).any(|source| source.contains("docker") || source.contains("podman"))
        }) || command.has(if command.is(&["podman"]) { "a" } else { "" }, &["all"])
            || command.stdin.programs.iter().any(|program| program == "docker"));
    let unknown_many = command.is(&["docker", "podman"])
        && command.wrappers.iter().any(|wrapper| wrapper == "xargs")
        && command.has_word(&["rm", "rmi", "kill", "stop"]);
    let volumes = command.is(&["docker", "podman", "docker-compose", "nerdctl"])
        && command.has_word(&["down", "rm"])
        && (command.is(&["docker-compose"]) || command.has_word(&["compose"]))
        && command.has("v", &["volumes"]);
    input.found_if(wholesale || many || unknown_many || volumes)
}

fn container_escape(input: &RuleInput<'_>) -> Option<String> {
    let socket =
        input.command.args.iter().any(|arg| arg.contains("docker.sock") || arg.contains("containerd.sock"))
            && input.command.is(&["curl", "nc", "socat", "ncat"]);
    let kernel = input.found_file_if(|file| {
        let is_kernel = (file.path.starts_with("/proc/") && !file.path.starts_with("/proc/self/fd"))
            || file.path.starts_with("/sys/");
        file.access.changes() && is_kernel
    });
    kernel.or_else(|| input.found_if(socket))
}
