"""A file or a folder that is there whole, or not at all.

Invariant: after any failure nothing new is there, and what was there stays as it was; what appears has the permissions that it was made with."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yields a path to write a file or a folder to, which becomes `target` when the block has ended well. With `replace` it takes the place of what is there: a file that of a
    file, a folder that of a folder; a device or a pipe is written into, for it cannot be replaced. Raises `OSError`."""
    if replace and _is_stream(target):
        yield target
        return
    beside = target.absolute().parent
    with tempfile.TemporaryDirectory(prefix=f".{target.name[:40]}.", dir=beside) as hidden:
        made, former = Path(hidden, "made"), Path(hidden, "former")
        yield made
        if not replace and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        if made.is_dir() and target.is_dir() and not target.is_symlink():
            target.rename(former)
        try:
            made.replace(target)
        except OSError:
            if former.exists():
                former.rename(target)
            raise


def _is_stream(target: Path) -> bool:
    """Returns whether it is there and is neither file nor folder, or leads to what a process has open, such as `/dev/stdout`."""
    if target.is_symlink() and target.readlink().is_relative_to("/proc"):
        return True
    return target.exists() and not (target.is_file() or target.is_dir())
