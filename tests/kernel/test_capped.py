"""Of text without end, the beginning and the end are kept."""

from __future__ import annotations

import pytest

from jupyter_schedule.kernel.capped import CappedText, capped, plain


@pytest.mark.parametrize("length", [0, 1, 29, 30])
def test_what_fits_is_kept_as_it_is(length: int) -> None:
    assert capped("x" * length, 30) == "x" * length


def test_of_more_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() -> None:
    assert capped("a" * 20 + "b" * 100 + "c" * 10, 30) == (
        f"{'a' * 20}\n… 100 characters left out …\n{'c' * 10}"
    )


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_it_does_not_matter_in_which_pieces_text_comes(size: int) -> None:
    text = "".join(f"{n}\n" for n in range(500))
    kept = CappedText(60)
    for start in range(0, len(text), size):
        kept.add(text[start : start + size])
    assert str(kept) == capped(text, 60)


def test_a_flood_takes_no_memory() -> None:
    kept = CappedText(100)
    for _ in range(1000):
        kept.add("x" * 1000)
    assert sum(len(part) for part in vars(kept).values() if isinstance(part, str)) < 300
    assert "999,900 characters left out" in str(kept)


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("1%\r50%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n", "a\r\nb\r\n"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("no colours", "no colours"),
    ],
)
def test_terminal_output_reads_plain(shown: str, read: str) -> None:
    assert plain(shown) == read
