//! Disks, file systems and the running system.

use super::command::Call;
use super::{Category, Findings, Severity};

/// Tells what the command would do to disks and to the system.
pub(super) fn judge(call: &Call<'_>, told: &mut Findings) {
    match call.name.as_str() {
        name if name == "mkfs" || name.starts_with("mkfs.") || name == "mkswap" || name == "newfs" => {
            told.push((Category::Disk, Severity::Grave, "makes a new file system over what a disk holds"));
        }
        "dd" if call.arguments.iter().any(|word| word.strip_prefix("of=").is_some_and(is_device)) => {
            told.push((Category::Disk, Severity::Grave, "writes over a disk"));
        }
        "wipefs" | "blkdiscard" | "sgdisk" | "hdparm"
            if call.operands().any(is_device) && changes_disk(call) =>
        {
            told.push((Category::Disk, Severity::Grave, "takes away what tells a disk's contents"));
        }
        "fdisk" | "parted" | "cfdisk" | "diskpart"
            if !call.has(&['l'], &["list"]) && call.operands().any(is_device) =>
        {
            told.push((Category::Disk, Severity::Risky, "changes the parts of a disk"));
        }
        "format" if call.operands().any(|word| word.len() == 2 && word.ends_with(':')) => {
            told.push((Category::Disk, Severity::Grave, "makes a new file system over what a disk holds"));
        }
        "diskutil" if call.operand(0).starts_with("erase") => {
            told.push((Category::Disk, Severity::Grave, "makes a new file system over what a disk holds"));
        }
        "lvremove" | "vgremove" | "pvremove" | "zpool" | "zfs" if removes_volume(call) => {
            told.push((Category::Disk, Severity::Grave, "takes away a volume with what it holds"));
        }
        "cryptsetup" if call.operand(0).contains("erase") || call.operand(0) == "luksformat" => {
            told.push((Category::Disk, Severity::Grave, "makes what a disk holds unreadable"));
        }
        "shred" | "tee" if call.operands().any(is_device) => {
            told.push((Category::Disk, Severity::Grave, "writes over a disk"));
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => {
            told.push((Category::System, Severity::Risky, "stops the machine"));
        }
        "init" | "telinit" if matches!(call.operand(0).as_str(), "0" | "6") => {
            told.push((Category::System, Severity::Risky, "stops the machine"));
        }
        "iptables" | "ip6tables" if call.has(&['F', 'X'], &["flush"]) => {
            told.push((Category::System, Severity::Risky, "takes away the rules of the firewall"));
        }
        "nft" if call.operand(0) == "flush" => {
            told.push((Category::System, Severity::Risky, "takes away the rules of the firewall"));
        }
        "ufw" if call.operand(0) == "disable" => {
            told.push((Category::System, Severity::Risky, "takes away the rules of the firewall"));
        }
        "userdel" | "deluser" | "groupdel" => {
            told.push((Category::System, Severity::Risky, "takes away an account"));
        }
        "crontab" if call.has(&['r'], &[]) => {
            told.push((Category::System, Severity::Risky, "takes away all jobs of a user"));
        }
        "kill" | "pkill" | "killall"
            if call.operands().any(|word| word == "1")
                || call.arguments.contains(&"-1") && call.has(&['9'], &[]) =>
        {
            told.push((Category::System, Severity::Grave, "ends everything that runs"));
        }
        "history" if call.has(&['c'], &[]) => {
            told.push((Category::System, Severity::Risky, "forgets what was done"));
        }
        "journalctl" if call.arguments.iter().any(|word| word.starts_with("--vacuum")) => {
            told.push((Category::System, Severity::Risky, "forgets what was done"));
        }
        "vssadmin" if call.operand(0) == "delete" => {
            told.push((Category::Disk, Severity::Grave, "takes away all copies to go back to"));
        }
        _ => {}
    }
}

/// Tells what it means that a file is replaced.
pub(super) fn judge_overwrite(file: &str, told: &mut Findings) {
    if is_device(file) {
        told.push((Category::Disk, Severity::Grave, "writes over a disk"));
    } else if matches!(file, "/etc/passwd" | "/etc/shadow" | "/etc/sudoers" | "/etc/fstab" | "/etc/hosts") {
        told.push((Category::System, Severity::Grave, "replaces a file by which the system runs"));
    }
}

/// Whether the path is that of a disk.
fn is_device(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else { return path.starts_with("\\\\.\\") };
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "loop", "dm-"]
        .iter()
        .any(|kind| device.starts_with(kind))
}

fn changes_disk(call: &Call<'_>) -> bool {
    match call.name.as_str() {
        "wipefs" => call.has(&['a', 'f', 'o'], &["all", "force"]),
        "sgdisk" => call.has(&['Z', 'z', 'o'], &["zap-all", "zap", "clear"]),
        "hdparm" => call.arguments.iter().any(|word| word.starts_with("--security-erase")),
        _ => true,
    }
}

fn removes_volume(call: &Call<'_>) -> bool {
    !matches!(call.name.as_str(), "zpool" | "zfs") || call.operand(0) == "destroy"
}
