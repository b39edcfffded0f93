//! Containers with power over the machine, and their data.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{paths::Place, secrets, text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "container-power",
        category: Category::Containers,
        tier: Tier::Block,
        finds: "gives a container power over the machine",
        instead: "Mount only the project: `docker run --rm -v \"$PWD\":/app -w /app IMAGE`.",
        check: Check::Scene(power),
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
        check: Check::Scene(data),
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
        check: Check::Scene(|scene| {
            let is_own =
                |path: &str| matches!(scene.place(path), Place::Root | Place::System | Place::HomeRoot);
            let found = scene.any_file(|one| one.kind.destroys() && is_own(&one.path));
            found.filter(|_| scene.one.is_elsewhere)
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
        check: Check::Scene(escape),
        matches: &[
            "echo x > /proc/sys/kernel/core_pattern",
            "echo 1 > /sys/fs/cgroup/release_agent",
            "echo b > /proc/sysrq-trigger",
            "curl --unix-socket /var/run/docker.sock http://x/containers/json",
        ],
        passes: &["cat /proc/cpuinfo", "cat /sys/class/net/eth0/address"],
    },
];

fn power(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if !one.is(&[
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
    ]) || one.is_question()
    {
        return None;
    }
    let starts = one
        .words()
        .iter()
        .take(2)
        .any(|word| ["run", "create", "exec", "container", "compose", "launch", "config"].contains(word));
    let flags = one.args.iter().any(|arg| {
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
        .any(|name| one.values("", &[&name[2..]]).contains(&"host"));
    let options = one
        .values("", &["security-opt"])
        .iter()
        .any(|value| value.contains("unconfined") || value.contains("disable"));
    let caps = one.values("", &["cap-add"]).iter().any(|cap| {
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
    scene.found_if(starts && (flags || pairs || options || caps || mounts(scene)))
}

/// Whether something that is not ours is mounted.
fn mounts(scene: &Scene<'_>) -> bool {
    let one = scene.one;
    let mut sources: Vec<String> = one
        .values("v", &["volume", "bind"])
        .iter()
        .filter_map(|value| value.split_once(':'))
        .map(|(source, _)| source.to_owned())
        .collect();
    for value in one.values("", &["mount"]) {
        let source = value
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        sources.extend(source.map(str::to_owned));
    }
    sources.iter().any(|source| {
        // A name without a slash is a volume of the container engine.
        let is_path = source.contains('/') || source.starts_with(['~', '.']) || !text::is_known(source);
        let path = one.path(source, scene.ctx);
        let place = scene.place(&path);
        let is_above = source == ".." || source.starts_with("../..");
        is_path
            && (matches!(place, Place::Root | Place::System | Place::HomeRoot | Place::Unknown)
                || secrets::is_secret(&path, scene.ctx)
                || path.ends_with("docker.sock")
                || is_above)
    })
}

fn data(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_rehearsal() {
        return None;
    }
    let wholesale = one.runs(&[
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
    ]) && !one.runs(&["docker|podman|nerdctl builder|buildx prune"]);
    let many = one.is(&["docker", "podman", "nerdctl"])
        && one.runs(&[
            "docker|podman|nerdctl rm|rmi|kill|stop",
            "docker|podman|nerdctl container|image rm|kill|stop",
        ])
        && (one.args.iter().any(|arg| {
            text::sources(arg).any(|source| source.contains("docker") || source.contains("podman"))
        }) || one.has(if one.is(&["podman"]) { "a" } else { "" }, &["all"])
            || one.input.programs.iter().any(|program| program == "docker"));
    let unknown_many = one.is(&["docker", "podman"])
        && one.wrappers.iter().any(|wrapper| wrapper == "xargs")
        && one.has_word(&["rm", "rmi", "kill", "stop"]);
    let volumes = one.is(&["docker", "podman", "docker-compose", "nerdctl"])
        && one.has_word(&["down", "rm"])
        && (one.is(&["docker-compose"]) || one.has_word(&["compose"]))
        && one.has("v", &["volumes"]);
    scene.found_if(wholesale || many || unknown_many || volumes)
}

fn escape(scene: &Scene<'_>) -> Option<String> {
    let socket =
        scene.one.args.iter().any(|arg| arg.contains("docker.sock") || arg.contains("containerd.sock"))
            && scene.one.is(&["curl", "nc", "socat", "ncat"]);
    let kernel = scene.file(|one| {
        let is_kernel = (one.path.starts_with("/proc/") && !one.path.starts_with("/proc/self/fd"))
            || one.path.starts_with("/sys/");
        one.kind.changes() && is_kernel
    });
    kernel.or_else(|| scene.found_if(socket))
}
