"""Fuzz one form of output, guided by coverage: tables or a located error, never another exception, never a hang.

``python fuzz/form.py TOOL[:VARIANT] CORPUS [libFuzzer options]``; ``any`` sniffs first, as `loadcurve ingest` does.
"""

import random
import sys

import atheris

with atheris.instrument_imports(include=["loadcurve"]):
    from loadcurve import tables
    from loadcurve.errors import ParseError
    from loadcurve.ingest.clean import clean, decode
    from loadcurve.ingest.registry import FORMS, forms_of
    from loadcurve.ingest.sniff import parse

    NAME = sys.argv.pop(1)
    PARSERS = [form.parser for form in FORMS]  # imports their modules here

READ = parse if NAME == "any" else forms_of(NAME)[0].parse
_CHECKED_OF = 20  # the whole schema is checked on one input of so many: it takes longer than parsing


def one(raw: bytes) -> None:
    """Parse one input, and look at what came of it."""
    text = decode(raw)[0]
    try:
        parsed = READ(clean(text))
    except ParseError as error:
        last = text.count("\n") + text.count("\r") + 1
        assert 0 <= error.line <= last, f"line {error.line} of {last}"
        assert "\n" not in str(error), "an error of several lines"
        return
    assert parsed.tables or parsed.warnings, "neither a table nor a warning"
    for warning in parsed.warnings:
        assert "\n" not in warning, "a warning of several lines"
    for name, frame in parsed.tables.items():
        unknown = set(frame.columns) - set(tables.SCHEMAS[name].columns)
        assert not unknown, f"{name}: {unknown}"
        if len(raw) % _CHECKED_OF == 0:
            tables.check(name, frame)


def mutate(raw: bytes, most: int, seed: int) -> bytes:
    """Change lines as people and accidents do, or bytes as libFuzzer does."""
    chance = random.Random(seed)
    lines = raw.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(8):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines = [*lines[:at], lines[at][: chance.randrange(len(lines[at]) + 1)]]
        case 4:
            words = lines[at].split(b" ")
            words[chance.randrange(len(words))] = chance.choice(
                [b"-nan", b"0", b"-1", b"9" * 30, b"1e400", b"\0", b"", b"x", b"1,5", b"\xff", b"%", b"12:60:99"]
            )
            lines[at] = b" ".join(words)
        case _:
            return atheris.Mutate(raw, most)
    return b"\n".join(lines)[:most]


atheris.Setup(sys.argv, one, custom_mutator=mutate)
atheris.Fuzz()
