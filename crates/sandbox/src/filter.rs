//! The system calls that a confined program is refused.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition as Condition,
    SeccompFilter, SeccompRule,
};

/// Refused whatever the arguments.
const REFUSED: &[i64] = &[
    // Mounts would uncover what is hidden, or cover what others look at.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Keys of the kernel.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Large parts of the kernel that exploits begin with. io_uring would also get round this filter.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// The x32 ABI of x86-64 has numbers of its own for these, and this bit on all others.
#[cfg(target_arch = "x86_64")]
const X32: (i64, &[i64], i64) = (0x4000_0000, &[521, 528, 539, 540], 514);

/// Ways to type into a terminal that is not the program's own.
const TERMINAL: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// The socket families that lead out of a network namespace.
const OUTSIDE: [i32; 3] = [libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG];

/// Refuses from now on, for this process and its children, with `EPERM`. Also sets `no_new_privs`.
pub(crate) fn apply(unix_sockets: bool) -> io::Result<()> {
    let program = compile(unix_sockets).map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

fn compile(unix_sockets: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let terminal =
        TERMINAL.iter().map(|request| when(1, Len::Dword, *request)).collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_ioctl, terminal.clone());
    let mut families = OUTSIDE.to_vec();
    if !unix_sockets {
        families.push(libc::AF_UNIX);
    }
    let families = families.into_iter().filter_map(|family| u64::try_from(family).ok());
    rules.insert(
        libc::SYS_socket,
        families.map(|family| when(0, Len::Dword, family)).collect::<Result<_, _>>()?,
    );
    #[cfg(target_arch = "x86_64")]
    {
        let (bit, own, ioctl) = X32;
        let same: Vec<_> = rules.iter().map(|(call, rules)| (call | bit, rules.clone())).collect();
        rules.extend(same);
        rules.extend(own.iter().map(|call| (call | bit, Vec::new())));
        rules.insert(ioctl | bit, terminal);
    }
    let arch = std::env::consts::ARCH.try_into()?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
}

fn when(argument: u8, len: Len, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![Condition::new(argument, len, Op::Eq, value)?])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_filter_compiles() {
        assert!(!super::compile(false).unwrap().is_empty());
        assert!(super::compile(true).unwrap().len() < super::compile(false).unwrap().len());
    }
}
