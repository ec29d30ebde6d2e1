"""Signatures: which logs were written here (contract 4.11).

The key lies in the user's data folder and never leaves it. It signs who a session is, where it
lives and what it was granted; reminder lines are not covered.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from jupyter_schedule.log.fileio import SystemFiles, is_own_file
from jupyter_schedule.rules.errors import NotWritable

_NAME = "schedule_signing_key"
_KEY_BYTES = 32


class Signer:
    """Signs and verifies with the key of one user's data folder; makes the key when needed."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = Path(data_dir).resolve()
        self._key: bytes | None = None

    def sign(self, session_id: str, seq: int, name: str, data: Mapping[str, object]) -> str:
        """Return the signature, in hex, of a line's data (its own `signature` is left out)."""
        return _mac(self._own_key(), session_id, seq, name, data)

    def verify(self, session_id: str, seq: int, name: str, data: Mapping[str, object]) -> bool:
        """Say whether the data carry the signature this key gives them. Makes no key."""
        key = self._key or self._read()
        given = data.get("signature")
        if key is None or not isinstance(given, str) or not given.isascii():
            return False
        self._key = key
        return hmac.compare_digest(given, _mac(key, session_id, seq, name, data))

    def _own_key(self) -> bytes:
        if self._key is None:
            self._key = self._read() or self._create()
        return self._key

    def _read(self) -> bytes | None:
        files = SystemFiles()
        path = self.data_dir / _NAME
        try:
            fd = files.open(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NotWritable(f"The signing key {path} cannot be read: {error.strerror}.") from None
        try:
            status = files.fstat(fd)
            # Two names for a moment are normal: see _create.
            private = is_own_file(status, names=2) and (
                os.name == "nt" or not status.st_mode & 0o77
            )
            key = files.read(fd, _KEY_BYTES + 1, 0) if private else b""
        finally:
            files.close(fd)
        if len(key) != _KEY_BYTES:
            raise NotWritable(
                f"The signing key {path} is not a private file of {_KEY_BYTES} bytes of your own."
            )
        return key

    def _create(self) -> bytes:
        """Write a new key beside its place and link it there, so that nobody reads half of one."""
        path = self.data_dir / _NAME
        draft = path.with_name(f"{_NAME}.{os.getpid()}-{secrets.token_hex(4)}")
        files = SystemFiles()
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = files.open(draft, write=True, create=True)
            try:
                files.write(fd, secrets.token_bytes(_KEY_BYTES), 0)
                files.fsync(fd)
            finally:
                files.close(fd)
            try:
                os.link(draft, path)
            except FileExistsError:
                pass  # another process was first; its key is the key
            finally:
                files.unlink(draft)
            files.fsync_folder(self.data_dir)
        except OSError as error:
            raise NotWritable(f"No signing key can be made in {self.data_dir}: {error}.") from None
        key = self._read()
        if key is None:
            raise NotWritable(f"The signing key {path} has vanished.")
        return key


def _mac(key: bytes, session_id: str, seq: int, name: str, data: Mapping[str, object]) -> str:
    unsigned = {field: value for field, value in data.items() if field != "signature"}
    # Sorted, compact and ASCII: the same bytes wherever the value comes from.
    text = json.dumps([session_id, seq, name, unsigned], sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()
