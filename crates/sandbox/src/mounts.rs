//! Covers: empty, read-only mounts over what is hidden.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
    mount_bind_recursive, mount_change, mount_remount, move_mount, open_tree,
};

use crate::hidden::FROZEN_FOR_ROOT;
use crate::policy::Policy;

const EMPTY: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Makes the mounts of a policy, in a mount namespace that is this process's own.
pub(crate) fn make(policy: &Policy) -> io::Result<()> {
    // Mounts that appear outside are still seen here; none of ours is seen outside.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|e| at(e, Path::new("/")))?;
    let is_root = rustix::process::geteuid().is_root();
    let mut frozen = policy.freeze.clone();
    let mut hidden = policy.hide.clone();
    if is_root && !hidden.is_empty() {
        frozen.extend(FROZEN_FOR_ROOT.iter().map(PathBuf::from));
        hidden.extend(disks(Path::new("/dev"), 2));
    }
    for path in &frozen {
        if let Some(path) = real(path)? {
            freeze(&path)?;
        }
    }
    let keep =
        policy.keep.iter().filter_map(|path| real(path).transpose()).collect::<io::Result<Vec<_>>>()?;
    // Folders before what is in them.
    let mut covers =
        hidden.iter().filter_map(|path| real(path).transpose()).collect::<io::Result<Vec<_>>>()?;
    covers.sort();
    covers.dedup();
    for path in &covers {
        // A folder that is covered already hides what was in it.
        if fs::symlink_metadata(path).is_ok() {
            cover(path, &keep)?;
        }
    }
    Ok(())
}

/// Where a path leads; none if nothing is there.
fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match path.canonicalize() {
        Ok(path) => Ok(Some(path)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        // A folder that we cannot look into, our child cannot either.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(at(error, path)),
    }
}

fn cover(path: &Path, keep: &[PathBuf]) -> io::Result<()> {
    if !fs::metadata(path).map_err(|e| at(e, path))?.is_dir() {
        return mount_bind("/dev/null", path).map_err(|e| at(e, path));
    }
    let kept = keep.iter().filter(|kept| kept.starts_with(path) && *kept != path);
    // Only the outermost: what is in a folder comes with it.
    let kept: Vec<&PathBuf> = kept
        .filter(|kept| {
            !keep.iter().any(|other| {
                other != *kept && other != path && kept.starts_with(other) && other.starts_with(path)
            })
        })
        .collect();
    let kept = kept.into_iter().map(|kept| Ok((kept, tree(kept)?))).collect::<io::Result<Vec<_>>>()?;
    mount("tmpfs", path, "tmpfs", EMPTY, c"mode=0755,size=256k").map_err(|e| at(e, path))?;
    for (kept, tree) in kept {
        put_back(kept, &tree).map_err(|e| at(e, kept))?;
    }
    let flags = EMPTY | MountFlags::BIND | MountFlags::RDONLY;
    mount_remount(path, flags, "").map_err(|e| at(e, path))
}

/// A copy of the mounts at `path`, held by a descriptor.
fn tree(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(|e| at(e, path))
}

fn put_back(path: &Path, tree: &OwnedFd) -> io::Result<()> {
    if rustix::fs::fstat(tree).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode))?.is_dir() {
        fs::create_dir_all(path)?;
    } else {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create(path)?;
    }
    Ok(move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Makes a file or folder read-only here.
fn freeze(path: &Path) -> io::Result<()> {
    mount_bind_recursive(path, path).map_err(|e| at(e, path))?;
    // Flags that the mount has already may not be taken away.
    let has = statvfs(path).map_err(|e| at(e, path))?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    let same = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    for (_, flag) in same.into_iter().filter(|(flag, _)| has.contains(*flag)) {
        flags |= flag;
    }
    mount_remount(path, flags, "").map_err(|e| at(e, path))
}

/// Block devices: root could read the disk that a hidden file is on.
fn disks(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_block_device() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 1 => found.extend(disks(&entry.path(), depth - 1)),
            _ => {}
        }
    }
    found
}

fn at(error: impl Into<io::Error>, path: &Path) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
