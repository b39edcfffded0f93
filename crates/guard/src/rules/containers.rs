//! Containers with power over the machine, and their data.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    command::Command,
    file_access::{Access, FileAccess},
    paths::Place,
    secrets, text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "container-power",
        category: Category::Containers,
        finds: "gives a container power over the machine",
        instead: "Mount only the project: `docker run --rm -v \"$PWD\":/app -w /app IMAGE`.",
        patterns: Patterns::new(&[
            "docker|podman|nerdctl|docker-compose|lxc|incus|ctr|crictl|singularity|apptainer run|create|exec|container|compose|launch|config --privileged|--device|--pid=host|--ipc=host|--uts=host|--userns=host|--cgroupns=host|--security-opt=*unconfined*|--security-opt=*disable*|--cap-add=*all|--cap-add=*sys_admin|--cap-add=*sys_ptrace|--cap-add=*sys_module|--cap-add=*dac_read_search|--cap-add=*dac_override|--cap-add=*sys_rawio|--cap-add=*net_admin !--privileged=false",
            "lxc|incus config|launch ~security.privileged*",
            "docker|podman|nerdctl|docker-compose -H=tcp://*|-H=ssh://*|--host=tcp://*|--host=ssh://*|--url=tcp://*|--url=ssh://*",
        ]),
        spares_dry_runs: false,
        variables: &["DOCKER_HOST|CONTAINER_HOST=tcp://*|ssh://*"],
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
        ..RULE
    },
    Rule {
        id: "container-data",
        category: Category::Containers,
        finds: "deletes many containers, images or volumes at once, or volumes with data",
        code: &[
            &["docker.from_env", "DockerClient", "dockerode", "podman.PodmanClient"],
            &[
                "prune(",
                "prune_",
                "volumes.get(",
                "removeVolume",
                "pruneVolumes",
                "list(all=True)",
                "list()",
                "listContainers",
            ],
            &["prune", "remove", "kill(", "stop("],
        ],
        instead: "Stop and remove the containers that you started, by name, and keep volumes.",
        patterns: Patterns::new(&[
            "docker|podman|nerdctl system prune|reset",
            "docker|podman|nerdctl volume rm|remove|prune",
            "docker|podman|nerdctl container|image|network prune",
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
            "docker|podman|nerdctl rm|rmi|kill|stop ~*$(docker*|*$(podman*",
            "docker|podman|nerdctl container|image rm|kill|stop ~*$(docker*|*$(podman*",
            "docker|podman|nerdctl rm|rmi|kill|stop --all",
            "docker|podman|nerdctl rm|rmi|kill|stop @xargs",
            "docker|podman|nerdctl container|image rm|kill|stop @xargs",
            "podman rm|rmi|kill|stop -a",
            "podman pod rm|kill|stop -a|--all",
            "docker|podman|nerdctl compose down|rm -v|--volumes",
            "docker-compose down|rm -v|--volumes",
        ]),
        // What tests make, by its name.
        unless: Patterns::new(&[
            "docker|podman|nerdctl compose ?* -f=*test*|--file=*test*|-p=*test*|--project-name=*test*|-p=ci|-p=*-ci",
            "docker-compose ?* -f=*test*|--file=*test*|-p=*test*|--project-name=*test*|-p=ci|-p=*-ci",
            "docker|podman|nerdctl volume rm|remove *test* !?*",
            // Only what no name points to.
            "docker|podman|nerdctl image prune !-a|--all",
            "minikube|kind|k3d delete ~*test*|*-ci|ci-*|--name=*test*|--name=*-ci|--profile=*test*",
            "kind|k3d cluster delete|rm ~*test*|*-ci|ci-*",
        ]),
        check: Check::Command(deletes_in_mount),
        matches: &[
            "python3 -c 'import docker; docker.from_env().volumes.prune()'",
            "docker system prune -af",
            "docker volume rm data",
            "docker rm -f $(docker ps -aq)",
            "docker compose down -v",
            "podman system reset",
            "docker volume prune",
            "docker ps -q | xargs docker kill",
            "docker run --rm -v ~/data:/d busybox rm -rf /d",
            "docker run --rm -v ../api:/a -w /a alpine sh -c 'rm -rf *'",
        ],
        passes: &[
            "docker ps -a",
            "docker rm -f web",
            "docker compose down",
            "docker system df",
            "docker volume ls",
            "docker compose -f compose.test.yml down -v",
            "kind delete cluster --name ci-test",
            "docker run --rm -v \"$PWD\":/app alpine rm -rf /app/dist",
            "docker run --rm -v ~/.cargo/registry:/r rust cargo build",
            "docker stop web",
        ],
        ..RULE
    },
    Rule {
        id: "delete-elsewhere",
        category: Category::Containers,
        finds: "deletes folders of the system or data in a container or on another machine",
        instead: "Make a new container instead of emptying one, and leave other machines alone.",
        check: Check::Command(|input| {
            let is_own =
                |path: &str| matches!(input.place_of(path), Place::Root | Place::System | Place::HomeRoot);
            // Of another machine no folder is the project.
            let is_host = input.command.wrappers.iter().any(|wrapper| wrapper == "ssh");
            let is_theirs = |file: &FileAccess| {
                is_host && file.access == Access::DeleteTree && input.place_of(&file.path) != Place::Temporary
            };
            let found = input
                .found_any_file_if(|file| file.access.destroys() && is_own(&file.path) || is_theirs(file));
            // Where tests of a device lie.
            let is_tests = input.runs(&["rm @adb ~/data/local/tmp/*"]);
            found.filter(|_| input.command.is_remote && !is_tests)
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
        ..RULE
    },
    Rule {
        id: "container-escape",
        category: Category::Containers,
        finds: "writes to files that control the kernel",
        instead: "Leave `/proc` and `/sys` alone.",
        patterns: Patterns::new(&["curl|nc|socat|ncat ~*docker.sock*|*containerd.sock*"]),
        check: Check::Command(container_escape),
        matches: &[
            "echo x > /proc/sys/kernel/core_pattern",
            "echo 1 > /sys/fs/cgroup/release_agent",
            "echo b > /proc/sysrq-trigger",
            "curl --unix-socket /var/run/docker.sock http://x/containers/json",
        ],
        passes: &["cat /proc/cpuinfo", "cat /sys/class/net/eth0/address"],
        ..RULE
    },
];

/// Something that is not ours is mounted.
fn container_power(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !input.runs(&[
        "docker|podman|nerdctl|docker-compose run|create|exec|container|compose",
        "lxc|incus launch|config",
    ]) || command.asks_for_help()
    {
        return None;
    }
    let sources = mounted_folders(command);
    input.found_if(sources.iter().any(|source| {
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
    }))
}

/// What is given to a container of this machine.
fn mounted_folders(command: &Command) -> Vec<String> {
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
    sources
}

/// Programs that delete what they are given.
const DELETES: [&str; 8] = ["rm", "rmdir", "unlink", "shred", "-delete", "rimraf", "truncate", "mv"];

/// A container that deletes in a folder of this machine that is not the project's.
fn deletes_in_mount(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !input.runs(&["docker|podman|nerdctl|docker-compose run|create|compose|container"]) {
        return None;
    }
    let mut words = command.args.iter().flat_map(|arg| arg.split([' ', ';', '&', '|']));
    if !words.any(|word| DELETES.contains(&word)) {
        return None;
    }
    input.found_if(mounted_folders(command).iter().any(|source| {
        let is_path = source.contains('/') || source.starts_with(['~', '.']);
        let place = input.place_of(&command.resolve_path(source, input.ctx));
        is_path && !matches!(place, Place::Project(_) | Place::ProjectRoot | Place::Temporary)
    }))
}

fn container_escape(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let is_kernel = (file.path.starts_with("/proc/") && !file.path.starts_with("/proc/self/fd"))
            || file.path.starts_with("/sys/");
        file.access.changes() && is_kernel
    })
}
