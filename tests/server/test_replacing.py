"""A file exchanged in one step (contract 5.8)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from jupyter_schedule.server.replacing import NotReplaceable, replace_text


def test_the_new_text_has_the_old_permissions_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text("old")
    file.chmod(0o640)
    replace_text(file, "nëw\n")
    assert file.read_bytes() == "nëw\n".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "real.ipynb"
    target.write_text("old")
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    replace_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_file_with_a_second_name_is_left_to_be_written_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text("old")
    os.link(file, tmp_path / "b.ipynb")
    with pytest.raises(NotReplaceable):
        replace_text(file, "new")
    assert file.read_text() == "old"


def test_a_file_that_is_gone_is_not_brought_back(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_text(tmp_path / "gone.ipynb", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_text_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(file, "half \ud800 a pair")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
