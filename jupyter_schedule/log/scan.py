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

    `seq` is the line that should stand at byte `offset`; `covered` says that a later line knew
    it to be durable; `edited` that no crash does this (a byte order mark, CRLF, members that are
    no line's); `whole` that what is there is a line, only not the one that should be.
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
        content, size = self._content, len(self._content)
        while self.length < size and self.damage is None:
            end = (
                size if self.length + _CHUNK >= size else content.find(b"\n", self.length + _CHUNK)
            )
            end = size if end in (-1, size) else end + 1
            chunk = content[self.length : end]
            good = _decode_chunk(chunk, self.lines, self.durable)
            if good is not None:
                yield from self._count(good, len(chunk))
            else:
                yield from self._one_by_one(chunk)

    def _count(self, good: list[Envelope], size: int) -> Iterator[Envelope]:
        yield from good
        self.lines += len(good)
        self.length += size
        self.durable = good[-1].durable

    def _one_by_one(self, chunk: bytes) -> Iterator[Envelope]:
        for line in chunk.split(b"\n")[: chunk.count(b"\n") + (not chunk.endswith(b"\n"))]:
            ended = self.length + len(line) < len(self._content)
            found = _decode_line(line, self.lines, self.durable)
            if isinstance(found, str):
                self.damage = self._describe(line, found)
                return
            yield found
            self.lines += 1
            self.durable = found.durable
            self.length += len(line) + ended
            self.open_end = not ended

    def _describe(self, line: bytes, what: str) -> Damage:
        later = _WRITTEN.findall(self._content, self.length)
        return Damage(
            seq=self.lines,
            offset=self.length,
            what=what,
            covered=any(int(durable) >= self.lines for durable in later),
            edited=_looks_edited(line),
        )


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
    for seq, envelope in enumerate(good, first):
        if envelope.seq != seq or not durable <= envelope.durable < seq:
            return None
        durable = envelope.durable
    return good


def _decode_line(line: bytes, seq: int, durable: int) -> Envelope | str:
    """Decode one line, or say what is wrong with it."""
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return "it is not one JSON object"
    try:
        line.decode()
        envelope = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return str(error)
    if envelope.seq != seq:
        return f"its seq is {envelope.seq}"
    if not durable <= envelope.durable < seq:
        return f"its durable is {envelope.durable}, after {durable}"
    return envelope


def _looks_edited(line: bytes) -> bool:
    """Say whether a damaged line was made by a program, not by a crash.

    A crash leaves halves, holes and lines in a wrong place; it adds no byte order mark or CR and
    turns no member of a line into another.
    """
    bare = line.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\r")
    try:
        value = msgspec.json.decode(bare)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if bare != line or not isinstance(value, dict):
        return True
    try:
        _decoder.decode(bare)
    except msgspec.ValidationError:
        return True
    return False
