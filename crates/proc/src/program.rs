//! Starts a program in a child that borrows this process's memory until it has become the program.
//!
//! A fork copies the page tables of the whole host, which takes a quarter of a millisecond and more, for a copy that is
//! thrown away at once. The standard library does without one only if nothing has to be done between fork and exec; we
//! have to set the parent-death signal there.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::ptr;

use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::stat::Mode;
use nix::unistd::pipe2;

use crate::leader::Leader;

/// More than the few calls between fork and exec need, and little enough for an allocator to have it at hand.
const STACK: usize = 32 * 1024;

/// What to run, ready for the system.
pub(crate) struct Program {
    /// Files that may be meant; the first that can be run is.
    files: Vec<CString>,
    args: Vec<CString>,
    env: Vec<CString>,
    cwd: Option<CString>,
    stdin: bool,
}

impl Program {
    /// `files` are tried in order; the arguments begin with the program's own name.
    ///
    /// # Errors
    /// When anything holds a NUL byte.
    pub(crate) fn new(
        files: &[PathBuf],
        args: impl Iterator<Item = OsString>,
        env: BTreeMap<OsString, OsString>,
        cwd: Option<&Path>,
        stdin: bool,
    ) -> io::Result<Self> {
        let text = |text: &OsStr| Ok::<_, io::Error>(CString::new(text.as_bytes())?);
        let variable = |(name, value): (OsString, OsString)| {
            let mut text = name.into_vec();
            // With the byte that ends it: a host's environment is long, and it is waited for.
            text.reserve_exact(value.len() + 2);
            text.push(b'=');
            text.extend_from_slice(value.as_bytes());
            Ok::<_, io::Error>(CString::new(text)?)
        };
        Ok(Self {
            files: files.iter().map(|file| text(file.as_os_str())).collect::<Result<_, _>>()?,
            args: args.map(|arg| text(&arg)).collect::<Result<_, _>>()?,
            env: env.into_iter().map(variable).collect::<Result<_, _>>()?,
            cwd: cwd.map(|cwd| text(cwd.as_os_str())).transpose()?,
            stdin,
        })
    }

    /// Starts it in a process group of its own, to die with the thread that calls this.
    pub(crate) fn start(&self) -> io::Result<Leader> {
        let (stdin, to_child) = match self.stdin {
            true => pipe().map(|(ours, theirs)| (theirs, Some(ours)))?,
            false => {
                (above_stdio(open("/dev/null", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?)?, None)
            }
        };
        let (stdout, from_stdout) = pipe()?;
        let (stderr, from_stderr) = pipe()?;
        let stdio = [stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()];
        let process = self.run(stdio)?;
        Ok(Leader { process, stdin: to_child, stdout: Some(from_stdout), stderr: Some(from_stderr) })
    }

    #[expect(unsafe_code, reason = "only the child itself can set its parent-death signal")]
    fn run(&self, stdio: [RawFd; 3]) -> io::Result<u32> {
        let files = pointers(&self.files);
        let args = pointers(&self.args);
        let env = pointers(&self.env);
        // What a shell runs for a file that is no program: it itself, with the file as its script.
        let mut script = vec![c"/bin/sh".as_ptr(), ptr::null()];
        script.extend(args.iter().skip(1));
        let mut steps = Steps {
            files: &files,
            args: &args,
            env: &env,
            script: &mut script,
            cwd: self.cwd.as_ref().map_or(ptr::null(), |cwd| cwd.as_ptr()),
            stdio,
            parent: std::process::id(),
            error: 0,
        };
        let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(STACK / size_of::<u128>());
        // SAFETY: the child runs `become_program` on a stack of its own while this thread stands still (CLONE_VFORK), so
        // nothing it was given moves or ends before it has become the program or has ended itself. It makes system calls
        // and compares numbers: it neither allocates, locks nor unwinds. No signal handler of ours runs in it, because
        // all signals are blocked until it has reset them.
        let process = unsafe {
            let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            let top = stack.as_mut_ptr().add(stack.capacity()).cast();
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            let process = libc::clone(become_program, top, flags, ptr::from_mut(&mut steps).cast());
            let failed = io::Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
            u32::try_from(process).map_err(|_| failed)?
        };
        if steps.error == 0 {
            return Ok(process);
        }
        // It has ended itself, and nobody but us knows of it yet.
        if let Some(pid) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
        }
        Err(io::Error::from_raw_os_error(steps.error))
    }
}

/// What the child does, with pointers to what its parent keeps meanwhile. The lists end in a null.
struct Steps<'a> {
    files: &'a [*const c_char],
    args: &'a [*const c_char],
    env: &'a [*const c_char],
    script: &'a mut [*const c_char],
    cwd: *const c_char,
    stdio: [RawFd; 3],
    parent: u32,
    /// Why it has not become the program.
    error: c_int,
}

/// All of the child that is ours.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
extern "C" fn become_program(steps: *mut c_void) -> c_int {
    // SAFETY: it is the `Steps` that `Program::run` made, and only this child looks at it now.
    let steps: &mut Steps<'_> = unsafe { &mut *steps.cast() };
    // SAFETY: each call is one that may be made between fork and exec; pointers are those of `Steps`.
    unsafe {
        steps.error = steps.prepare().and_then(|()| steps.execute()).err().unwrap_or(libc::EINVAL);
        libc::_exit(127)
    }
}

#[expect(unsafe_code, reason = "system calls between fork and exec")]
impl Steps<'_> {
    unsafe fn prepare(&self) -> Result<(), c_int> {
        // SAFETY: as the caller's.
        unsafe {
            for (to, from) in (0..).zip(self.stdio) {
                done(libc::dup2(from, to))?;
            }
            done(libc::setpgid(0, 0))?;
            done(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // If the parent died before the line above there is nobody left to send the signal.
            if u32::try_from(libc::getppid()) != Ok(self.parent) {
                return Err(libc::ESRCH);
            }
            if !self.cwd.is_null() {
                done(libc::chdir(self.cwd))?;
            }
            reset_signals();
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            done(libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut()))
        }
    }

    /// Comes back only with an error: that of the first file that is there, or that none is.
    unsafe fn execute(&mut self) -> Result<(), c_int> {
        let mut failure = libc::ENOENT;
        for file in self.files.iter().copied().filter(|file| !file.is_null()) {
            // SAFETY: as the caller's.
            let mut cause = unsafe {
                libc::execve(file, self.args.as_ptr(), self.env.as_ptr());
                *libc::__errno_location()
            };
            if cause == libc::ENOEXEC
                && let [shell, script, ..] = &mut *self.script
            {
                *script = file;
                // SAFETY: as the caller's.
                cause = unsafe {
                    libc::execve(*shell, self.script.as_ptr(), self.env.as_ptr());
                    *libc::__errno_location()
                };
            }
            match cause {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => failure = libc::EACCES,
                other => return Err(other),
            }
        }
        Err(failure)
    }
}

/// A program begins with the system's own ways. Exec itself does away with the handlers of this process; what is ignored stays
/// ignored, and Rust ignores SIGPIPE. A signal that waits already, as Ctrl-C does that hit this process's group a moment ago, must
/// find no handler of ours when it is let in. To ask for all 64 took as long as a hundredth of a small program's start.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
unsafe fn reset_signals() {
    let usual = MaybeUninit::<libc::sigaction>::zeroed();
    let mut waiting = MaybeUninit::uninit();
    // SAFETY: a zeroed action stands for the default; `waiting` is room for a set, and is one if the call says so.
    unsafe {
        libc::sigaction(libc::SIGPIPE, usual.as_ptr(), ptr::null_mut());
        if libc::sigpending(waiting.as_mut_ptr()) != 0 {
            return;
        }
        for signal in
            (1..=libc::SIGRTMAX()).filter(|signal| libc::sigismember(waiting.as_ptr(), *signal) == 1)
        {
            libc::sigaction(signal, usual.as_ptr(), ptr::null_mut());
        }
    }
}

#[expect(unsafe_code, reason = "errno is a variable of C")]
fn done(result: c_int) -> Result<(), c_int> {
    match result {
        // SAFETY: the address is that of this thread's own variable.
        -1 => Err(unsafe { *libc::__errno_location() }),
        _ => Ok(()),
    }
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// A pipe whose ends no other child gets: the child's end for output, ours. For input it is the other way round.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe2(OFlag::O_CLOEXEC)?;
    Ok((above_stdio(write)?, above_stdio(read)?))
}

/// A descriptor that putting stdio in place does not overwrite.
fn above_stdio(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    // A copy never has one of the first three numbers.
    if descriptor.as_raw_fd() > 2 { Ok(descriptor) } else { descriptor.try_clone() }
}
