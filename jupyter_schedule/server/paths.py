"""From the paths of Jupyter's contents to files, and nowhere else (contract 6.5, 7.2)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.services.contents.manager import ContentsManager
from tornado.web import HTTPError

from jupyter_schedule.rules.errors import shorten

_LONGEST = 4096


class PathRefused(ValueError):
    """A path that names no notebook of this server; the message is one sentence."""


class NotFiles(RuntimeError):
    """The server's contents are not files, so a log cannot lie beside a notebook (6.5)."""


def contents_path(raw: object) -> str:
    """Return a contents path in its one form: `/` between names, none at either end.

    A path is refused that climbs (`..`), that is no text or has NUL in it, and that holds what
    this system takes for another separator (a backslash on Windows).
    """
    if not isinstance(raw, str):
        raise PathRefused(f"path must be text, not {shorten(raw)}")
    if "\0" in raw or len(raw) > _LONGEST or not _encodable(raw):
        raise PathRefused(f"path {shorten(raw)} cannot name a file")
    if os.sep != "/" and (os.sep in raw or Path(raw).drive):
        raise PathRefused(f"path {shorten(raw)} must have '/' between its names")
    names = [name for name in raw.split("/") if name not in ("", ".")]
    if not names:
        raise PathRefused("path must name a notebook")
    if ".." in names:
        raise PathRefused(f"path {shorten(raw)} must not climb with '..'")
    return "/".join(names)


def notebook_path(contents: ContentsManager, raw: object) -> Path:
    """Return the absolute path of the file behind a contents path; it need not exist.

    Raises `PathRefused`, or `NotFiles` when the contents manager keeps notebooks elsewhere.
    """
    # jupyter_server has no public name for this, and no types; it refuses what leaves its root.
    files: Any = require_files(contents)
    path = contents_path(raw)
    try:
        return Path(files._get_os_path(path))
    except HTTPError as error:
        raise PathRefused(f"path {shorten(path)} lies outside the server's folder") from error


def require_files(contents: ContentsManager) -> FileContentsManager:
    """Return the contents manager, or raise `NotFiles` unless it keeps files on this machine."""
    if not isinstance(contents, FileContentsManager):
        raise NotFiles(
            "jupyter-schedule keeps its log beside the notebook's file, and this server's "
            f"contents ({type(contents).__name__}) are not files."
        )
    return contents


def _encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
