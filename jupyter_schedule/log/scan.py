"""Bytes of a log to lines, and what is wrong with them (contract 4.2, 4.5).

Every line is checked in full for being UTF-8 and one JSON object with the members of a line; its
data stay bytes. A chunk at a time, so that no other thread waits long for the interpreter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from jupyter_schedule.log.lines import Envelope

#: Bytes decoded in one go, a fraction of a millisecond.
_CHUNK = 1 << 18
_decoder = msgspec.json.Decoder(Envelope)
#: The start of a line as this package writes it. Inside JSON text the quotes would be escaped.
_WRITTEN = re.compile(rb'\{"seq":(?:0|[1-9][0-9]*),"at":"[^"\n]*","durable":(-?[0-9]+),')


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """Where a log stops making sense as bytes.

    `seq` is the line that should stand at byte `offset`, and `what` is what is wrong there;
    `covered` says that a later line knew it to be durable; `edited` that no crash does this: a
    byte order mark, CRLF, JSON that is no line.
    """

    seq: int
    offset: int
    what: str
    covered: bool = False
    edited: bool = False


class Scan:
    """Iterates over the good lines of a log and afterwards says where they end.

    After the iteration: `lines` and `length` count what is good, `damage` is what follows, and
    `open_end` says that the last good line lacks its LF.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.lines = 0
        self.length = 0
        self.durable = -1
        self.damage: Damage | None = None
        self.open_end = False

    def __iter__(self) -> Iterator[Envelope]:
        for lines in self.chunks():
            yield from lines

    def chunks(self) -> Iterator[list[Envelope]]:
        """Yield the good lines, some hundreds at a time: the fast way through a long log."""
        content, size = self._content, len(self._content)
        while self.length < size and self.damage is None:
            end = content.find(b"\n", self.length + _CHUNK) + 1 or size
            chunk = content[self.length : end]
            good = _decode_chunk(chunk, self.lines, self.durable)
            if good is None:
                good = self._one_by_one(chunk)
            else:
                self.length = end
            if good:
                self.lines += len(good)
                self.durable = good[-1].durable
                yield good

    def _one_by_one(self, chunk: bytes) -> list[Envelope]:
        """Decode a chunk with something unusual in it: damage, or a last line without LF."""
        good: list[Envelope] = []
        for line in chunk.removesuffix(b"\n").split(b"\n"):
            durable = good[-1].durable if good else self.durable
            found = _decode_line(line, self.lines + len(good), durable)
            if isinstance(found, _Bad):
                self.damage = self._describe(found, self.lines + len(good))
                break
            good.append(found)
            self.length += len(line) + 1
        if self.length > len(self._content):
            self.length -= 1
            self.open_end = True
        return good

    def _describe(self, bad: _Bad, seq: int) -> Damage:
        later = _WRITTEN.findall(self._content, self.length)
        return Damage(
            seq=seq,
            offset=self.length,
            what=bad.what,
            covered=any(int(durable) >= seq for durable in later),
            edited=bad.edited,
        )


class _Bad(msgspec.Struct, frozen=True):
    what: str
    edited: bool = False


def _decode_chunk(chunk: bytes, first: int, durable: int) -> list[Envelope] | None:
    """Decode whole lines in one call, or return `None` if anything is unusual."""
    if not chunk.endswith(b"}\n"):
        return None
    try:
        chunk.decode()
        good = _decoder.decode_lines(chunk)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    count = len(good)
    # The decoder takes any white space between objects. Text holds no raw LF, so if each LF but
    # the last stands between "}" and the next line's start, each object stands on its own line.
    if chunk.count(b"\n") != count or chunk.count(b'}\n{"seq":') != count - 1:
        return None
    if not chunk.startswith(b'{"seq":'):
        return None
    seq = first
    for envelope in good:
        if envelope.seq != seq or not durable <= envelope.durable < seq:
            return None
        durable = envelope.durable
        seq += 1
    return good


def _decode_line(line: bytes, seq: int, durable: int) -> Envelope | _Bad:
    """Decode one line, or say what is wrong with it."""
    bare = line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
    try:
        bare.decode()
        msgspec.json.decode(bare)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Bad("it is not one JSON object")
    if bare != line:
        return _Bad("there is a byte order mark, a CR or a blank around it", edited=True)
    try:
        envelope = _decoder.decode(line)
    except msgspec.DecodeError as error:
        return _Bad(f"it is not a line of a log: {error}", edited=True)
    if envelope.seq != seq:
        return _Bad(f"its seq is {envelope.seq}")
    if not durable <= envelope.durable < seq:
        return _Bad(f"its durable is {envelope.durable} after {durable}", edited=True)
    return envelope
