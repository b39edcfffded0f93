//! Disks and devices.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    file_access::Access,
    paths::{Place, is_disk},
    pattern, text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "disk-write",
        category: Category::Disks,
        finds: "writes to a disk or another device",
        instead: "Write to a file in the project; use an image file where a disk is needed.",
        check: Check::Command(disk_write),
        matches: &[
            "ddrescue backup.img /dev/sdb",
            "qemu-img convert -O raw a.qcow2 /dev/sdb",
            "dd if=x.img of=/dev/sda",
            "cat x > /dev/nvme0n1",
            "echo x | tee /dev/vda",
            "shred /dev/sdb",
            "cp x.img /dev/sdc",
        ],
        passes: &[
            "lsblk /dev/sda",
            "screen /dev/ttyUSB0 115200",
            "dd if=/dev/zero of=disk.img bs=1M count=8",
            "echo x > /dev/null",
            "cat /dev/urandom | head -c 4 | xxd",
        ],
        ..RULE
    },
    Rule {
        id: "disk-format",
        category: Category::Disks,
        finds: "formats, partitions, encrypts or erases a disk",
        instead: "Leave disks alone. In tests use an image file below the project.",
        patterns: Patterns::new(&[
            "mkfs*|newfs*|mke2fs|mkswap|mkdosfs|mkntfs|blkdiscard|resize2fs|sg_format|growpart|partx|pvcreate|mkinitfs|cgdisk|cfdisk",
            "fdisk|sfdisk|gdisk|parted !-l|-d|-J|--list|--dump|--json",
            "fdisk|sfdisk|gdisk|parted ~--delete|-s|--script",
            "sgdisk !-p|-i|-v|-O|--print|--info|--verify",
            "fstrim !-n",
            "wipefs -a|-o|--all|--offset !-n|-J|--no-act",
            "cryptsetup !~status|luksDump|isLuks|benchmark|luksUUID",
            "nvme ~format|sanitize|write|delete-ns|write-zeroes",
            "hdparm ~*erase*|*trim*|*write*|*repair*",
            "fsck|e2fsck|xfs_repair !-n|-N",
            "tune2fs !-l",
            "badblocks -w|-n",
            "debugfs -w",
            "st-flash|dfu-util erase|--erase",
            "nwipe|dban",
            "Clear-Disk|Format-Volume|Initialize-Disk|Remove-Partition|Reset-PhysicalDisk|Set-Partition|diskpart",
        ]),
        spares: is_image,
        matches: &[
            "mkfs.ext4 /dev/sdb1",
            "wipefs -a /dev/sda",
            "parted -s /dev/sda mklabel gpt",
            "sfdisk /dev/sda < table",
            "mke2fs -t ext4 \"$DEV\"",
        ],
        passes: &["mkfs.ext4 -F disk.img", "fdisk -l", "parted --version", "wipefs --no-act /dev/sda"],
        ..RULE
    },
    Rule {
        id: "disk-volume",
        category: Category::Disks,
        finds: "changes or destroys a volume, pool or array, or unmounts disks",
        instead: "Leave volumes and mounts alone and say what you need.",
        patterns: Patterns::new(&[
            "lvresize|lvconvert|pvresize|pvmove|lvcreate|lvextend|lvchange|lvrename|vgcreate|vgextend|vgchange|vgrename|vgexport|vgsplit|vgmerge|pvchange",
            "format|format.com ~[a-zA-Z]:*",
            "zpool destroy|labelclear|create|remove|offline|detach|split|export",
            "zfs destroy|rollback",
            "fastboot erase|format*|flash*|oem|flashing",
            "fastboot -w",
            "smartctl -s|--smart",
            "btrfs subvolume|device delete|remove",
            "lvremove|vgremove|pvremove|lvreduce|vgreduce|lvchange",
            "dmsetup remove|remove_all|wipe_table",
            "diskutil erase*|partition*|zeroDisk|randomDisk|secureErase|reformat|unmountDisk|unmount|eject",
            "diskutil apfs delete*|erase*",
            "hdiutil erasekeys",
            "diskpart|grub-install|flashrom",
            "losetup|efibootmgr ~* !-l|-a|--list|--all",
            "losetup|efibootmgr -d|-D|-b|-B|--detach",
            "mdadm -S|-z|-C|-r|-f|--stop|--zero-superblock|--create|--remove|--fail",
            "umount -a|--all",
            "avrdude -e",
            "nrfjprog -e|--eraseall|--recover",
            "qemu-img resize --shrink",
            "qemu-img snapshot -d|-a",
            "virt-sparsify|virt-resize|virt-format ?*",
            "swapoff ~*",
        ]),
        check: Check::Command(disk_volume),
        matches: &[
            "zpool destroy tank",
            "lvremove -f vg/data",
            "mdadm --stop /dev/md0",
            "umount -a",
            "qemu-img resize --shrink vm.qcow2 1G",
            "swapoff -a",
            "diskutil eraseDisk APFS X disk2",
        ],
        passes: &["zpool status", "lvs", "umount /tmp/mnt", "mount", "diskutil list"],
        ..RULE
    },
];

/// Programs that only look at a disk, or that another rule is about.
const LOOKS_AT_DISKS: &[&str] = &[
    "lsblk",
    "blkid",
    "smartctl",
    "file",
    "ls",
    "stat",
    "df",
    "du",
    "findmnt",
    "udevadm",
    "hdparm",
    "cat",
    "head",
    "dd",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "test",
    "[",
    "[[",
    "readlink",
    "realpath",
    "lsof",
    "fuser",
    "echo",
    "printf",
    "mount",
    "umount",
    "fdisk",
    "sfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "wipefs",
    "cryptsetup",
    "nvme",
    "fsck",
    "e2fsck",
    "xfs_repair",
    "tune2fs",
    "badblocks",
    "debugfs",
    "dumpe2fs",
    "xfs_info",
    "mdadm",
    "pvdisplay",
    "pvs",
    "lvs",
    "vgs",
    "zpool",
    "btrfs",
    "losetup",
    "efibootmgr",
    "diskutil",
    "grep",
    "rg",
    "git",
    "iostat",
    "sg_inq",
    "lshw",
    "blockdev",
    "docker",
    "podman",
];

/// Names of disks, and not of terminals or cameras.
const DISKS: &str =
    "sd[a-z]*|hd[a-z]*|vd[a-z]*|xvd*|nvme[0-9]*|mmcblk*|disk*|rdisk*|mapper/*|md[0-9]*|nbd[0-9]*|mtd*|dm-*";

fn disk_write(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_named = |arg: &String| {
        let path = arg.rsplit_once('=').map_or(arg.as_str(), |(_, path)| path);
        path.strip_prefix("/dev/").is_some_and(|name| pattern::is_one_of(DISKS, name))
    };
    let writes = !LOOKS_AT_DISKS.contains(&command.program.as_str()) && command.args.iter().any(is_named);
    let file = input.found_any_file_if(|file| file.access != Access::Read && is_disk(&file.path));
    file.or_else(|| input.found_if(writes && !command.is_dry_run()))
}

/// A file that stands for a disk.
fn is_image(input: &RuleInput<'_>) -> bool {
    let command = input.command;
    let operands = command.operands(&["-t", "-L", "-N", "-U", "-b", "-o"]);
    let is_device = |path: &&str| is_disk(&command.resolve_path(path, input.ctx)) || !text::is_known(path);
    let is_named = operands.iter().any(is_device) || command.args.iter().any(|arg| is_disk(arg));
    !is_named && operands.iter().any(|path| path.contains(['.', '/']))
}

/// What is mounted where others need it.
fn disk_volume(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_others = |path: &&str| {
        let path = command.resolve_path(path, input.ctx);
        let place = input.place_of(&path);
        is_disk(&path)
            || matches!(
                place,
                Place::Root | Place::System | Place::HomeRoot | Place::Home(_) | Place::Unknown
            )
    };
    input.found_if(command.is(&["umount"]) && command.operands(&["-t", "-O"]).iter().any(is_others))
}
