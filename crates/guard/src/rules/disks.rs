//! Disks and devices.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{
    paths::{Place, is_disk},
    text,
    uses::Use,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "disk-write",
        category: Category::Disks,
        tier: Tier::Block,
        finds: "writes to a disk or another device",
        instead: "Write to a file in the project; use an image file where a disk is needed.",
        check: Check::Scene(write),
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
        check: Check::Scene(format),
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
        check: Check::Scene(volume),
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

fn write(scene: &Scene<'_>) -> Option<String> {
    scene.any_file(|one| one.kind != Use::Read && is_disk(&one.path))
}

fn format(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let formats = one.program.starts_with("mkfs")
        || one.program.starts_with("newfs")
        || one.is(&[
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
    if !formats || one.is_rehearsal() || looks_only(scene) {
        return None;
    }
    let operands = one.operands(&["-t", "-L", "-N", "-U", "-b", "-o"]);
    let is_device = |path: &&str| is_disk(&one.path(path, scene.ctx)) || !text::is_known(path);
    let is_named = operands.iter().any(is_device) || one.args.iter().any(|arg| is_disk(arg));
    let is_file = operands.iter().any(|path| path.contains(['.', '/']));
    scene.found_if(is_named || !is_file)
}

/// Lists or tests without changing anything.
fn looks_only(scene: &Scene<'_>) -> bool {
    let one = scene.one;
    match one.program.as_str() {
        "fdisk" | "sfdisk" | "gdisk" | "parted" => {
            one.has("lsdJ", &["list", "dump", "json"]) && !one.has_word(&["--delete", "-s"])
        }
        "sgdisk" => one.has("pivO", &["print", "info", "verify"]),
        "wipefs" => one.has("nJ", &["no-act"]) || !one.has("ao", &["all", "offset"]),
        "cryptsetup" => one.has_word(&["status", "luksDump", "isLuks", "benchmark", "luksUUID"]),
        "nvme" => !one.has_word(&["format", "sanitize", "write", "delete-ns", "write-zeroes"]),
        "hdparm" => !one.args.iter().any(|arg| {
            arg.contains("erase") || arg.contains("trim") || arg.contains("write") || arg.contains("repair")
        }),
        "fsck" | "e2fsck" | "xfs_repair" => one.has("nN", &[]),
        "tune2fs" => one.has("l", &[]),
        "badblocks" => !one.has("wn", &[]),
        "debugfs" => !one.has("w", &[]),
        _ => false,
    }
}

fn volume(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_rehearsal() {
        return None;
    }
    let destroys = one.runs(&[
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
    ]) && !(one.is(&["losetup", "efibootmgr"])
        && (one.args.is_empty() || one.has("la", &["list", "all"]))
        && !one.has("dDbB", &["detach"]));
    let array =
        one.is(&["mdadm"]) && one.has("SzCrf", &["stop", "zero-superblock", "create", "remove", "fail"]);
    let unmounts = one.is(&["umount"])
        && (one.has("a", &["all"])
            || one.operands(&["-t", "-O"]).iter().any(|path| {
                let path = one.path(path, scene.ctx);
                is_disk(&path)
                    || matches!(
                        scene.place(&path),
                        Place::Root | Place::System | Place::HomeRoot | Place::Home(_) | Place::Unknown
                    )
            }));
    let swaps = one.is(&["swapoff"]) && !one.args.is_empty();
    scene.found_if(destroys || array || unmounts || swaps)
}
