"""Contents paths lead to files below the server's root and nowhere else (contract 6.5, 7.2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from jupyter_server.services.contents.manager import AsyncContentsManager, ContentsManager

from jupyter_schedule.server.paths import (
    NotFiles,
    PathRefused,
    contents_path,
    notebook_path,
    require_files,
)


@pytest.fixture(params=[AsyncLargeFileManager, LargeFileManager], ids=["async", "sync"])
def contents(request: pytest.FixtureRequest, tmp_path: Path) -> ContentsManager:
    made: ContentsManager = request.param(root_dir=str(tmp_path))
    return made


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a.ipynb", "a.ipynb"),
        ("/a.ipynb", "a.ipynb"),
        ("/folder//a.ipynb/", "folder/a.ipynb"),
        ("./folder/./a.ipynb", "folder/a.ipynb"),
        ("Ünïcode %20 #1 ?.ipynb", "Ünïcode %20 #1 ?.ipynb"),
        ("with\nnewline.ipynb", "with\nnewline.ipynb"),
        ("..a/...b.ipynb", "..a/...b.ipynb"),
        ("back\\slash.ipynb", "back\\slash.ipynb"),
        ("%2e%2e/a.ipynb", "%2e%2e/a.ipynb"),
    ],
)
def test_a_path_has_one_form_and_its_file(
    contents: ContentsManager, tmp_path: Path, raw: str, clean: str
) -> None:
    assert contents_path(raw) == clean
    assert notebook_path(contents, raw) == tmp_path / clean


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "/",
        ".",
        "//./",
        "..",
        "../a.ipynb",
        "/../../etc/passwd",
        "folder/../../a.ipynb",
        "folder/../a.ipynb",
        "a/..",
        "nul\0.ipynb",
        "lone\ud800.ipynb",
        "x" * 5000,
        None,
        7,
        True,
        ["a.ipynb"],
        {"path": "a.ipynb"},
        b"a.ipynb",
    ],
    ids=repr,
)
def test_what_names_no_file_below_the_root_is_refused_in_one_sentence(
    contents: ContentsManager, raw: object
) -> None:
    with pytest.raises(PathRefused) as raised:
        notebook_path(contents, raw)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 150


def test_a_folder_that_is_a_link_is_the_persons_own_choice(
    contents: ContentsManager, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to("/")
    assert notebook_path(contents, "link/a.ipynb") == tmp_path / "link" / "a.ipynb"


@pytest.mark.parametrize("raw", ["folder\\a.ipynb", "..\\a.ipynb", "\\\\host\\share\\a.ipynb"])
def test_where_a_backslash_separates_it_is_refused(
    raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    with pytest.raises(PathRefused):
        contents_path(raw)


def test_contents_that_are_not_files_are_refused_in_one_sentence() -> None:
    class Elsewhere(AsyncContentsManager):
        """Notebooks in a database."""

    with pytest.raises(NotFiles, match=r"Elsewhere\) are not files"):
        require_files(Elsewhere())
    with pytest.raises(NotFiles):
        notebook_path(Elsewhere(), "a.ipynb")
