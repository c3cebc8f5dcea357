//! Which folders lie where the system does not report what other machines do.

use std::path::Path;

/// `f_type` of network and shared file systems, from the kernel's `magic.h` and `statfs(2)`.
#[cfg(target_os = "linux")]
const NETWORK_TYPES: &[u64] = &[
    0x6969,      // NFS
    0x517b,      // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB 2
    0x0102_1997, // 9P: folders of a virtual machine's host
    0x6573_5546, // FUSE: sshfs, rclone, virtiofs
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS
    0x7375_7245, // Coda
    0x0bd0_0bd0, // Lustre
    0x786f_4256, // VirtualBox
];

/// Whether the folder lies on such a file system; one that is away does not.
#[cfg(target_os = "linux")]
pub(super) fn is_network(root: &Path) -> bool {
    let Ok(stat) = rustix::fs::statfs(root) else { return false };
    u64::try_from(stat.f_type).is_ok_and(|kind| NETWORK_TYPES.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_network(_root: &Path) -> bool {
    false
}
