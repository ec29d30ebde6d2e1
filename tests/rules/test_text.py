"""Trimming, names and JSON quoting."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_schedule.rules.text import TRIMMED, has_lone_surrogate, is_name, json_text, trim


def test_what_is_trimmed_is_the_white_space_of_ecmascript() -> None:
    space_separators = "\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
    assert len(TRIMMED) == len(set(TRIMMED)) == 25
    for char in "\t\n\v\f\r\u2028\u2029\ufeff" + space_separators.replace("-", ""):
        assert trim(f"{char}x{char}") == "x"


@pytest.mark.parametrize("char", ["\u0085", "\u001c", "\u001f", "\u200b", "\u180e", "\u0000"])
def test_what_python_or_a_reader_may_take_for_white_space_stays(char: str) -> None:
    assert trim(f" {char}x{char} ") == f"{char}x{char}"
    assert is_name(f"{char}x")


@pytest.mark.parametrize("text", ["", " ", "x ", "\ufeffx", "x\n", "half \ud800 pair"])
def test_a_name_is_not_blank_not_padded_and_can_be_stored(text: str) -> None:
    assert not is_name(text)


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert not has_lone_surrogate("🚀")
    assert has_lone_surrogate("\udc00")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("\x00\x1f\n\t\b", r'"\u0000\u001f\n\t\b"'),
        ("\ud83d alone", r'"\ud83d alone"'),
        ("\x7f\u2028é🚀</script>", '"\x7f\u2028é🚀</script>"'),
    ],
)
def test_only_what_could_leave_the_quotes_is_escaped(text: str, quoted: str) -> None:
    assert json_text(text) == quoted


@given(st.text(alphabet=st.characters()))
def test_quoted_text_is_one_line_of_json_that_says_the_same(text: str) -> None:
    quoted = json_text(text)
    assert "\n" not in quoted
    assert "\r" not in quoted
    assert json.loads(quoted) == text
    assert quoted.encode()
