"""Exchanging a file in one step, so that nobody ever reads half of it."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


class NotReplaceable(RuntimeError):
    """A file that must be written where it is: of somebody else, with a second name, or the like."""


def replace_text(file: Path, text: str) -> None:
    """Write a file anew beside its place and put it there, with the old one's permissions.

    A link stays one: what it points to is replaced. Raises `OSError`, and `NotReplaceable` before
    anything was written.
    """
    real = file.resolve(strict=True)
    old = real.stat()
    if not os.access(real, os.W_OK):
        raise PermissionError(f"{real} may not be written")
    if not stat.S_ISREG(old.st_mode) or old.st_nlink > 1 or not _is_ours(old):
        raise NotReplaceable(str(real))
    draft = real.with_name(f".{secrets.token_hex(8)}{real.suffix}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except PermissionError as error:
        raise NotReplaceable(str(real)) from error  # the file may be written, its folder not
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            if hasattr(os, "fchmod"):
                os.fchmod(stream.fileno(), stat.S_IMODE(old.st_mode))
            os.fsync(stream.fileno())
        draft.replace(real)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _is_ours(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
