//! A network of its own: loopback, and a way to a proxy outside.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, IntoRawFd as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, sendto, socket_with,
};

/// Loopback is the first interface of every network namespace.
const LOOPBACK: i32 = 1;
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_ACK: u16 = 1 | 4;
const NLMSG_ERROR: u16 = 2;
const IFF_UP: u32 = 1;

/// Brings loopback up in a new network namespace, which begins without any interface that works.
pub(crate) fn loopback_up() -> io::Result<()> {
    // Without a protocol it is NETLINK_ROUTE, which has the number 0.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    // struct nlmsghdr, then struct ifinfomsg: the index, the flags, and which flags are meant.
    let mut request = Vec::with_capacity(32);
    request.extend(32u32.to_ne_bytes());
    request.extend(RTM_NEWLINK.to_ne_bytes());
    request.extend(NLM_F_REQUEST_ACK.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([0; 4]);
    request.extend(LOOPBACK.to_ne_bytes());
    request.extend(IFF_UP.to_ne_bytes());
    request.extend(IFF_UP.to_ne_bytes());
    sendto(&socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0u8; 128];
    recv(&socket, &mut answer, RecvFlags::empty())?;
    // The acknowledgement is an error message with the number 0.
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let error = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, error) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(error)) => Err(io::Error::from_raw_os_error(-error)),
        _ => Err(io::Error::other("the kernel does not acknowledge that loopback is up")),
    }
}

/// Listens in this network and hands the socket to the proxy at `path`, which serves it from its own. Gives the port.
pub(crate) fn hand_over_listener(path: &Path) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let proxy = UnixStream::connect(path)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    sendmsg(&proxy, &[IoSlice::new(b"l")], &mut ancillary, SendFlags::empty())?;
    // It stays open in the program and its children: the proxy sees when the last of them is gone.
    rustix::io::fcntl_setfd(&proxy, rustix::io::FdFlags::empty())?;
    let _ = proxy.into_raw_fd();
    Ok(port)
}
