"""What the operating system keeps a process from. Each measure reports whether it was taken."""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
CAPABILITY_VERSION = 0x20080522
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
GIB = 1 << 30

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(status: int) -> None:
    """Raises OSError where a call of libc has failed."""
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def hide_memory() -> None:
    """From now on no other process of this user may read the memory of this one."""
    LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def die_with_parent() -> None:
    """The kernel kills this process when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)


def enter_namespaces() -> list[str]:
    """Leaves the namespaces of the machine; returns what that isolates. Empty if the kernel refuses."""
    user, group = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    try:
        checked(LIBC.unshare(flags))
    except OSError:
        return []
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return ["network", "processes"]


def close_files(scratch: Path) -> list[str]:
    """In namespaces of its own: nothing can be written but the empty folder `scratch` and /dev/shm."""
    taken = []
    try:
        checked(LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
        attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
        checked(LIBC.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, attributes, 32))
        for folder in (str(scratch), "/dev/shm"):
            checked(LIBC.mount(b"tmpfs", folder.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, None))
        taken.append("files (read only)")
    except OSError:
        return taken
    try:  # refused where the machine's own /proc is partly covered, as in containers
        checked(LIBC.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None))
        taken.append("list of processes")
    except OSError:
        pass
    return taken


def limit(memory: int | None, seconds: int, *, own_processes: bool) -> list[str]:
    """Sets limits: bytes of memory beyond what is mapped now, seconds of computing, bytes of a file.

    Without a limit of memory there is none of files, in which the simulated device has its memory.
    """
    taken = ["computing time", "new privileges"]
    if memory is not None:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        set_limit(resource.RLIMIT_AS, mapped + memory)
        set_limit(resource.RLIMIT_FSIZE, 4 * GIB)
        taken += ["memory", "size of files"]
    set_limit(resource.RLIMIT_CPU, seconds)
    set_limit(resource.RLIMIT_CORE, 0)
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if own_processes:  # elsewhere the limit would also count what else the user runs
        set_limit(resource.RLIMIT_NPROC, 1024)
        taken.append("number of processes")
    return taken


def drop_capabilities() -> list[str]:
    """Gives up what root may do, also in namespaces: reading other processes, mounting files anew."""
    for number in range(64):
        LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    return [] if LIBC.capset(header, none) else ["capabilities"]


def set_limit(kind: int, value: int) -> None:
    """Sets a limit, but never a higher one than there is."""
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


EVERY_MEASURE = [
    "network",
    "processes",
    "capabilities",
    "files (read only)",
    "list of processes",
    "memory",
    "computing time",
    "size of files",
    "new privileges",
    "number of processes",
]
