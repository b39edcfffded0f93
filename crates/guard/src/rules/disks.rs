//! Disks and devices.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{
    file_access::Access,
    paths::{Place, is_disk},
    text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "disk-write",
        category: Category::Disks,
        tier: Tier::Block,
        finds: "writes to a disk or another device",
        instead: "Write to a file in the project; use an image file where a disk is needed.",
        check: Check::Command(disk_write),
        matches: &[
            "dd if=x.img of=/dev/sda",
            "cat x > /dev/nvme0n1",
            "echo x | tee /dev/vda",
            "shred /dev/sdb",
            "cp x.img /dev/sdc",
        ],
        passes: &[
            "dd if=/dev/zero of=disk.img bs=1M count=8",
            "echo x > /dev/null",
            "cat /dev/urandom | head -c 4 | xxd",
        ],
    },
    Rule {
        id: "disk-format",
        category: Category::Disks,
        tier: Tier::Block,
        finds: "formats, partitions, encrypts or erases a disk",
        instead: "Leave disks alone. In tests use an image file below the project.",
        check: Check::Command(disk_format),
        matches: &[
            "mkfs.ext4 /dev/sdb1",
            "wipefs -a /dev/sda",
            "parted -s /dev/sda mklabel gpt",
            "sfdisk /dev/sda < table",
            "mke2fs -t ext4 \"$DEV\"",
        ],
        passes: &["mkfs.ext4 -F disk.img", "fdisk -l", "parted --version", "wipefs --no-act /dev/sda"],
    },
    Rule {
        id: "disk-volume",
        category: Category::Disks,
        tier: Tier::Block,
        finds: "destroys a volume, pool or array, or takes away what is mounted",
        instead: "Leave volumes and mounts alone and say what you need.",
        check: Check::Command(disk_volume),
        matches: &[
            "zpool destroy tank",
            "lvremove -f vg/data",
            "mdadm --stop /dev/md0",
            "umount -a",
            "swapoff -a",
            "diskutil eraseDisk APFS X disk2",
        ],
        passes: &["zpool status", "lvs", "umount /tmp/mnt", "mount", "diskutil list"],
    },
];

fn disk_write(input: &RuleInput<'_>) -> Option<String> {
    input.found_any_file_if(|file| file.access != Access::Read && is_disk(&file.path))
}

fn disk_format(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let formats = command.program.starts_with("mkfs")
        || command.program.starts_with("newfs")
        || command.is(&[
            "mke2fs",
            "mkswap",
            "mkdosfs",
            "mkntfs",
            "wipefs",
            "sgdisk",
            "gdisk",
            "cgdisk",
            "fdisk",
            "sfdisk",
            "cfdisk",
            "parted",
            "blkdiscard",
            "badblocks",
            "tune2fs",
            "resize2fs",
            "debugfs",
            "hdparm",
            "nvme",
            "sg_format",
            "cryptsetup",
            "fsck",
            "e2fsck",
            "xfs_repair",
            "growpart",
            "partx",
            "pvcreate",
            "mkinitfs",
        ]);
    if !formats || command.is_dry_run() || looks_only(input) {
        return None;
    }
    let operands = command.operands(&["-t", "-L", "-N", "-U", "-b", "-o"]);
    let is_device = |path: &&str| is_disk(&command.resolve_path(path, input.ctx)) || !text::is_known(path);
    let is_named = operands.iter().any(is_device) || command.args.iter().any(|arg| is_disk(arg));
    let is_file = operands.iter().any(|path| path.contains(['.', '/']));
    input.found_if(is_named || !is_file)
}

/// Lists or tests without changing anything.
fn looks_only(input: &RuleInput<'_>) -> bool {
    let command = input.command;
    match command.program.as_str() {
        "fdisk" | "sfdisk" | "gdisk" | "parted" => {
            command.has("lsdJ", &["list", "dump", "json"]) && !command.has_word(&["--delete", "-s"])
        }
        "sgdisk" => command.has("pivO", &["print", "info", "verify"]),
        "wipefs" => command.has("nJ", &["no-act"]) || !command.has("ao", &["all", "offset"]),
        "cryptsetup" => command.has_word(&["status", "luksDump", "isLuks", "benchmark", "luksUUID"]),
        "nvme" => !command.has_word(&["format", "sanitize", "write", "delete-ns", "write-zeroes"]),
        "hdparm" => !command.args.iter().any(|arg| {
            arg.contains("erase") || arg.contains("trim") || arg.contains("write") || arg.contains("repair")
        }),
        "fsck" | "e2fsck" | "xfs_repair" => command.has("nN", &[]),
        "tune2fs" => command.has("l", &[]),
        "badblocks" => !command.has("wn", &[]),
        "debugfs" => !command.has("w", &[]),
        _ => false,
    }
}

fn disk_volume(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.is_dry_run() {
        return None;
    }
    let destroys = command.runs(&[
        "zpool destroy|labelclear|create|remove|offline|detach|split|export",
        "zfs destroy|rollback",
        "btrfs subvolume|device delete|remove",
        "lvremove|vgremove|pvremove|lvreduce|vgreduce|lvchange",
        "dmsetup remove|remove_all|wipe_table",
        "diskutil erase*|partition*|zeroDisk|randomDisk|secureErase|reformat|unmountDisk|unmount|eject",
        "diskutil apfs delete*|erase*",
        "hdiutil erasekeys",
        "diskpart",
        "efibootmgr",
        "grub-install",
        "flashrom",
        "losetup",
    ]) && !(command.is(&["losetup", "efibootmgr"])
        && (command.args.is_empty() || command.has("la", &["list", "all"]))
        && !command.has("dDbB", &["detach"]));
    let array = command.is(&["mdadm"])
        && command.has("SzCrf", &["stop", "zero-superblock", "create", "remove", "fail"]);
    let unmounts = command.is(&["umount"])
        && (command.has("a", &["all"])
            || command.operands(&["-t", "-O"]).iter().any(|path| {
                let path = command.resolve_path(path, input.ctx);
                is_disk(&path)
                    || matches!(
                        input.place_of(&path),
                        Place::Root | Place::System | Place::HomeRoot | Place::Home(_) | Place::Unknown
                    )
            }));
    let swaps = command.is(&["swapoff"]) && !command.args.is_empty();
    input.found_if(destroys || array || unmounts || swaps)
}
