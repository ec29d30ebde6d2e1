"""Text as reminders have it: what is trimmed, what cannot be stored, how it is quoted."""

from __future__ import annotations

import json
import re

# The white space of ECMAScript's `trim`. `str.strip` would also take U+001C to U+001F and U+0085,
# and would leave U+FEFF.
TRIMMED = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def trim(text: str) -> str:
    """Return `text` without the white space around it (contract 2.6)."""
    return text.strip(TRIMMED)


def is_name(text: str) -> bool:
    """Say whether `text` can be an id: not empty, nothing around it, storable as UTF-8."""
    return text != "" and text.strip(TRIMMED) == text and not has_lone_surrogate(text)


def has_lone_surrogate(text: str) -> bool:
    """Say whether `text` holds half a surrogate pair, which UTF-8 cannot hold."""
    return _LONE_SURROGATE.search(text) is not None


def json_text(value: object) -> str:
    """Return `value` as compact JSON in which text cannot leave its quotes (contract 5.10).

    Quotes, backslash, U+0000 to U+001F and lone surrogates are escaped; everything else stands
    as it is, so that a person can read it.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
