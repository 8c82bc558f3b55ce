r"""Which runs of a folder are repeats of one point: by the words in which the names of their files and folders differ.

Every word or number that varies between the names has one meaning, the first of these that fits:

1. A load whose meaning the name states (``c64``, ``64conn``, ``R2000``, ``t8``): it repeats what the report prints, or
   fills in what the report does not print.
2. A number that the report prints, whatever it means there.
3. A counter of repeats: ``r1``, ``run2``, a date or time, or a number that counts 1, 2, 3 … within one point.
4. A factor.  Runs with different levels of a factor are never pooled.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loadcurve.errors import printable
from loadcurve.tables.curves import SAME_RATE
from loadcurve.tables.schemas.derived import HOLD_A_RATE

# Words before or after a number -> the column of runs that it states; `r` is a rate if it is too large for a counter.
_MEANINGS = {
    "connections": "c con conn conns connection connections concurrency concurrent clients users vu vus",
    "threads": "t thread threads",
    "target_rate_rps": "rate rates rps qps reqs",
    "repeat": "r run rep repeat repetition try trial iter iteration round pass attempt take",
    "duration_s": "d dur duration sec secs seconds min mins minutes",
}
_COLUMNS = {word: column for column, words in _MEANINGS.items() for word in words.split()}
_SUFFIXES = _COLUMNS | {"s": "duration_s", "m": "duration_s", "x": "repeat"}
_MOST_REPEATS = 50  # r51 is more likely a rate than a repeat
_STAMP = re.compile(
    r"(?<!\d)(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d(?:[T_ .-]?[0-2]\d[:._h-]?[0-5]\d(?:[:._m-]?[0-5]\d)?)?Z?(?!\d)"
    r"|(?<!\d)1[0-9]{9}(?:[0-9]{3})?(?!\d)"
)
_TOKEN = re.compile(r"[^\W_]+(?:\.\d+[^\W_]*)*")
_PREFIXED = re.compile(r"([^\W\d]+)(\d+(?:\.\d+)*)([kKM]?)")
_NUMBER = re.compile(r"(\d+(?:\.\d+)*)([kKM]?)")
_SUFFIXED = re.compile(r"(\d+(?:\.\d+)?)([kKM]?)([^\W\d]+)")
_THOUSANDS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}
# What a factor is called whose levels are words of these.
_KINDS = {
    "server": "apache caddy envoy express gin go h2o haproxy httpd hyper istio java jetty kong lighttpd linkerd netty "
    "nginx node nodejs openresty php pingora python rust tomcat traefik undertow varnish",
    "method": "get post put delete head patch options",
    "protocol": "http https h1 h2 h3 http1 http2 http3 grpc tls plain",
    "size": "tiny small medium large big huge",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_NUMBERS = ("connections", "threads", "target_rate_rps", "duration_s", "duration_asked_s", "requests_asked", "requests",
            "document_bytes", "throughput_rps")  # fmt: skip
_NOUNS = {"connections": "connections", "threads": "threads", "target_rate_rps": "offered rates"}
_NOT_NAMES = (*_NUMBERS, "url", "tls")  # names of files distinguish runs better than these
_MOST_IN_PATTERN = 12  # levels
_OVER_RATE = 1.05  # throughput over a rate, from which the number in a name is no rate

GROUPED = "grouping: "
"""How the origin begins that names a decision of `group_runs`."""


def other_facts(origins: Iterable[str]) -> list[str]:
    """Return the facts that no report prints, without those of the grouping, which is shown by itself."""
    return [line for line in origins if not line.startswith(GROUPED) and not line.endswith(": names of files")]


Facts = Mapping[str, object]
Levels = dict[str, str]
"""Run -> its level; a run whose name lacks the word has none."""


@dataclass(frozen=True)
class Grouping:
    """Meaning of what varies between the names of the runs."""

    columns: dict[str, Levels]  # Column of ``runs``, or a factor -> run -> value
    notes: tuple[str, ...]  # What was decided, each with the option that changes it


def group_runs(names: Mapping[str, Sequence[str]], known: Mapping[str, Facts]) -> Grouping:
    r"""Return the factors, the loads and the repeats that the names of runs state.

    Examples
    --------
    >>> names = {run: [run] for run in ("nginx-c64-r1", "nginx-c64-r2", "rust-hyper-c64-r1")}
    >>> found = group_runs(names, {run: {"connections": 64, "tool": "wrk"} for run in names})
    >>> found.columns["variant"]
    {'nginx-c64-r1': 'nginx', 'nginx-c64-r2': 'nginx', 'rust-hyper-c64-r1': 'rust-hyper'}
    """
    return _Grouper(names, known).grouping()


@dataclass
class _Slot:
    """A place in the names where runs differ: its levels, the word before it, and whether they are numbers."""

    levels: Levels
    word: str = ""
    numeric: bool = False


class _Token(NamedTuple):
    """A word of a name, with the number in it and the word before that."""

    text: str
    word: str
    number: str = ""
    before: str = ""


class _Grouper:
    def __init__(self, names: Mapping[str, Sequence[str]], known: Mapping[str, Facts]) -> None:
        self.names, self.runs = names, list(names)
        self.known = known
        self.columns: dict[str, Levels] = {}
        self.factors: list[str] = []
        self.notes: list[str] = []
        self.stated: dict[str, Levels] = defaultdict(dict)
        self.patterns: dict[str, str] = {}
        self.slots = list(self._slots(names))

    def grouping(self) -> Grouping:
        """Give each slot its meaning: stated loads first, words next, then numbers, and counters last."""
        for column in ("connections", "threads", "target_rate_rps"):
            self._state(column, self.stated.get(column, {}))
        counters = [_Slot(self.stated[name], numeric=name == "repeat") for name in ("repeat", "stamp") if
                    name in self.stated]  # fmt: skip
        for slot in sorted(self.slots, key=lambda slot: slot.numeric):
            if slot.numeric and self._is_rate(slot):
                self._state("target_rate_rps", slot.levels)
            elif self._is_known(slot):
                continue
            elif slot.numeric and self._counts(slot):
                counters.append(slot)
            elif slot.numeric and self._is_load(slot):
                self._state("connections", slot.levels)
            else:
                self._add_factor(slot)
        self._count(counters)
        return Grouping(self.columns, tuple(self.notes))

    def _slots(self, names: Mapping[str, Sequence[str]]) -> Iterator[_Slot]:
        """Yield what varies in each part of the names; stated columns go to `stated`."""
        for at in range(max(map(len, names.values()), default=0)):
            words: dict[str, list[str]] = {}
            numbers: dict[int, _Slot] = {}
            read = {run: list(self._read(run, parts[at] if at < len(parts) else "")) for run, parts in names.items()}
            for run, tokens in read.items():
                words[run] = [token.word for token in tokens if token.word]
                for i, token in enumerate(token for token in tokens if token.number):
                    slot = numbers.setdefault(i, _Slot({}, token.before, numeric=True))
                    slot.levels[run] = token.number
                    slot.word = slot.word if slot.word == token.before else ""
            numbered = {run for each in numbers.values() for run in each.levels}
            others = [words[run] for run in words if run not in numbered]
            if others and any(words[run] not in others for run in numbered):  # a number in the place of a word
                words, numbers = {run: [token.text for token in tokens] for run, tokens in read.items()}, {}
            for slot in (*_aligned(words), *numbers.values()):
                if len({slot.levels.get(run) for run in self.runs}) > 1:
                    yield slot

    def _read(self, run: str, part: str) -> Iterator["_Token"]:
        """Yield the words and the numbers of a part of a name, and note the numbers with a stated meaning."""
        if stamps := [match[0] for match in _STAMP.finditer(part)]:
            self.stated["stamp"].setdefault(run, " ".join(stamps))
            part = _STAMP.sub(" ", part)
        before = ""
        tokens = _TOKEN.findall(part)
        while tokens:
            token = tokens.pop(0)
            follows = _NUMBER.fullmatch(tokens[0]) if tokens else None
            if (column := _COLUMNS.get(token.lower())) and follows:
                self._note(run, column, tokens.pop(0), rf"{token}\W*([0-9]+)")
            elif _NUMBER.fullmatch(token):
                yield _Token(token, "", token, before)
            elif (match := _PREFIXED.fullmatch(token)) and match[1].lower() in _COLUMNS:
                self._note(run, _COLUMNS[match[1].lower()], match[2] + match[3], f"{match[1]}([0-9]+)")
            elif (match := _SUFFIXED.fullmatch(token)) and match[3].lower() in _SUFFIXES:
                self._note(run, _SUFFIXES[match[3].lower()], match[1] + match[2], f"([0-9]+){match[3]}")
            elif (match := _PREFIXED.fullmatch(token)) and not match[3]:
                yield _Token(token, before := match[1], match[2], match[1])
            else:
                yield _Token(token, before := token)

    def _note(self, run: str, column: str, number: str, pattern: str) -> None:
        """Note a number with a stated meaning; a large number after `r` is a rate."""
        if column == "repeat" and (_value(number) or 0) > _MOST_REPEATS:
            column = "target_rate_rps"
        self.stated[column][run] = number
        self.patterns.setdefault(column, pattern)

    def _state(self, column: str, levels: Levels) -> None:
        """Fill in a load that some reports do not print; one that contradicts what is printed is a factor."""
        printed = {run: _number(self.known[run].get(column)) for run in levels}
        named = {run: _value(level) for run, level in levels.items()}
        above = column == "target_rate_rps" and any(
            (_number(self.known[run].get("throughput_rps")) or 0) > _OVER_RATE * (rate or 0)
            for run, rate in named.items()
        )
        # wrk opens as many connections as its threads share equally.
        if above or any(value is not None and not _is_near(named[run], value, 0.1) for run, value in printed.items()):
            if len({levels.get(run) for run in self.runs}) > 1 and not self._is_known(slot := _Slot(levels, column)):
                self._add_factor(slot, f"{column.split('_')[0]}_in_name")
            return
        guessed = {run: f"{named[run]:g}" for run, value in printed.items() if value is None and named[run] is not None}
        if guessed:
            tools = sorted({str(self.known[run].get("tool") or "a report") for run in guessed})
            self.columns[column] = guessed
            self.notes.append(
                f"{_NOUNS[column]} from the names, as {' and '.join(tools)} printed none (otherwise add --factor "
                f"'{column}=REGEX')"
            )

    def _load(self, run: str, column: str) -> object:
        return _number(self.known[run].get(column)) or self.columns.get(column, {}).get(run)

    def _cell(self, run: str) -> Hashable:
        """Everything known that distinguishes the points of runs."""
        facts = self.known[run]
        others = [str(value) for name, value in sorted(facts.items()) if name not in _NUMBERS and _is(value)]
        own = [self.columns[name].get(run) for name in self.factors]
        loads = [self._load(run, name) for name in ("connections", "target_rate_rps", "threads")]
        return tuple(others), tuple(own), tuple(map(str, loads))

    def _is_known(self, slot: _Slot) -> bool:
        """Whether the levels name a printed number, or the load, or follow from the tool and the factors so far."""
        if slot.numeric and len(slot.levels) == len(self.runs):
            for name in _NUMBERS:
                values = {run: _number(self.known[run].get(name)) for run in self.runs}
                within = SAME_RATE if name == "target_rate_rps" else 0.0
                if all(_is_near(_value(slot.levels[run]), value, within) for run, value in values.items()):
                    return True
        if self._names_load(slot):
            return True
        own = {run: tuple(self.columns[name].get(run) for name in self.factors) for run in self.runs}
        given = {run: tuple(str(v) for n, v in sorted(self.known[run].items()) if n not in _NOT_NAMES) for run in own}
        return _determined(slot.levels, {run: (given[run], own[run]) for run in self.runs}, self.runs)

    def _names_load(self, slot: _Slot) -> bool:
        """Whether each level stands for one load.

        Words do so where another word differs too: nginx/low, nginx/high, apache/low.  Numbers do if they count.
        """
        load = {run: str((self._load(run, "connections"), self._load(run, "target_rate_rps"))) for run in self.runs}
        levels = {run: slot.levels.get(run, "") for run in self.runs}
        others = [other for other in self.slots if other is not slot and not other.numeric]
        return (
            len(set(load.values())) > 1
            and _determined(levels, load, self.runs)
            and _determined(load, levels, self.runs)
            and ((slot.numeric and self._counts_from_0_or_1(slot))
                 or any(not _determined(other.levels, levels, self.runs) for other in others))
        )  # fmt: skip

    def _counts_from_0_or_1(self, slot: _Slot) -> bool:
        """Whether the numbers are 0, 1, 2 … or 1, 2, 3 …; a missing number is the first."""
        values = {_value(slot.levels[run]) if run in slot.levels else None for run in self.runs}
        counted = sorted(value for value in values if value is not None)
        first = (counted[0] if counted else 0) - (None in values)
        return first in (0, 1) and counted == list(range(int(first) + (None in values), int(first) + len(values)))

    def _counts(self, slot: _Slot) -> bool:
        """Whether numbers count the runs of each point, of which the load must be known."""
        known = all(self._load(run, "connections") or self._load(run, "target_rate_rps") for run in self.runs)
        cells = [(self._cell(run), slot.levels.get(run)) for run in self.runs]
        return self._counts_from_0_or_1(slot) and known and len(set(cells)) == len(cells)

    def _is_rate(self, slot: _Slot) -> bool:
        """Whether a number can only be the rate at which a tool sent: no run served more, and some as much."""
        named = {run: _value(level) or 0.0 for run, level in slot.levels.items()}
        served = {run: _number(self.known[run].get("throughput_rps")) or 0.0 for run in named}
        return (
            len(named) == len(self.runs)
            and all(self.known[run].get("tool") in HOLD_A_RATE for run in named)
            and all(served[run] <= _OVER_RATE * named[run] for run in named)
            and any(served[run] * _OVER_RATE >= named[run] for run in named)
        )

    def _is_load(self, slot: _Slot) -> bool:
        """Whether a number can only be the connections: no report prints a load, and it counts nothing."""
        unknown = not any(self._load(run, name) for run in self.runs for name in ("connections", "target_rate_rps"))
        values = [_value(level) for level in slot.levels.values()]
        counts = set(values) == set(range(1, len(set(values)) + 1))
        numbers = sum(other.numeric for other in self.slots)
        tools = {str(self.known[run].get("tool")) for run in self.runs}
        return (
            unknown and numbers == 1 and not counts and len(slot.levels) == len(self.runs)
            and (not slot.word or slot.word.lower() in tools)
            and all(value is not None and value >= 1 and value == int(value) for value in values)
        )  # fmt: skip

    def _add_factor(self, slot: _Slot, name: str = "") -> None:
        kind, levels = name or _kind(slot), {run: printable(slot.levels.get(run, "none")) for run in self.runs}
        taken = set(self.columns).union(*self.known.values())
        column = kind if slot.numeric or name or "variant" in taken else "variant"
        if column == "variant" in self.columns:  # a second word without a meaning of its own
            levels = {run: f"{known} {slot.levels.get(run, '')}".strip() for run, known in self.columns[column].items()}
        while column in taken and column != "variant":
            column = f"{column}_name"
        self.columns[column] = levels
        self.factors.append(column)
        found = sorted(set(slot.levels.values()), key=lambda level: (-len(level), level))
        plural = f"values of {kind}" if slot.numeric or name else f"{kind}s"
        number = f"{len({slot.levels.get(run) for run in levels})} {plural}"
        number = number if len(found) > 1 else f"with and without {found[0]!r}"
        pattern = self._pattern(slot, f"({'|'.join(map(_escaped, found))})") if len(found) <= _MOST_IN_PATTERN else ".+"
        self.notes.append(f"{number} from the names (if these are repeats, add --repeats '{pattern}')")

    def _pattern(self, slot: _Slot, *patterns: str) -> str:
        """Return the first pattern that finds the level in the name of each run, else the last as a whole word."""
        for pattern in patterns:
            found = {run: re.search(pattern, "/".join(parts)) for run, parts in self.names.items()}
            levels = {run: _joined(match[1]) for run, match in found.items() if match}
            if levels == {run: _joined(level) for run, level in slot.levels.items()}:
                return pattern
        return f"[-_. /]{patterns[-1]}(?:[-_. /]|$)"

    def _count(self, counters: Iterable[_Slot]) -> None:
        """Note by what repeats are counted; a counter that numbers points, such as that of a sweep, counts none."""
        cells = [self._cell(run) for run in self.runs]
        for slot in counters if len(set(cells)) < len(cells) else ():
            values = [slot.levels.get(run) for run in self.runs]
            if len(set(values)) == 1:
                continue
            pattern = self.patterns.get("repeat") if slot.levels is self.stated.get("repeat") else None
            pattern = pattern or self._pattern(
                slot, f"{slot.word or '[-_ (]'}([0-9]+)", "[-_ (]([0-9]+)", r"\b([0-9]+)"
            )
            what = f"'{pattern}'" if slot.numeric else "the times"
            option = pattern if slot.numeric else "REGEX"
            self.notes.append(f"repeats by {what} in the names (if these are levels, add --factor 'NAME={option}')")
            if slot.numeric and len(set(zip(cells, values, strict=True))) == len(cells) and None not in values:
                self.columns["repeat"] = {run: f"{_value(level):g}" for run, level in slot.levels.items()}
            return


def _aligned(words: Mapping[str, list[str]]) -> Iterator[_Slot]:
    """Yield a slot for each word in which names of equal length differ; other names differ as a whole.

    If one word settles all others, as in ``go-gin, go-chi, rust-hyper``, they are one name.
    """
    rest = {run: list(found) for run, found in words.items()}
    if len({len(found) for found in words.values()}) == 1:
        places = [each for each in zip(*words.values(), strict=True) if len(set(each)) > 1]
        if len(places) < 2 or max(len(set(each)) for each in places) < len(set(zip(*places, strict=True))):
            yield from (_Slot(dict(zip(words, each, strict=True))) for each in places)
            return
        rest = dict(zip(words, map(list, zip(*places, strict=True)), strict=True))
    for end in (0, -1):
        while all(rest.values()) and len({found[end].lower() for found in rest.values()}) == 1:
            for found in rest.values():
                found.pop(end)
    yield _Slot({run: "-".join(found) for run, found in rest.items() if found})


def _joined(words: str) -> str:
    return re.sub(r"[\W_]+", "-", words)


def _escaped(level: str) -> str:
    """Return a pattern of a level, whose words any sign may part in the name."""
    return re.escape(level).replace(r"\-", ".").replace(r"\ ", " ")


def _determined(levels: Levels, by: Mapping[str, Hashable], runs: Iterable[str]) -> bool:
    """Whether equal values of `by` always have equal levels."""
    seen: dict[Hashable, str | None] = {}
    return all(seen.setdefault(by[run], levels.get(run)) == levels.get(run) for run in runs)


def _kind(slot: _Slot) -> str:
    """What the levels are called: servers, methods …, or the word before a number."""
    if slot.numeric:
        return slot.word.lower() if re.fullmatch("[A-Za-z_]+", slot.word) else "number"
    kinds = [_KIND_OF.get(word) for level in slot.levels.values() for word in re.split(r"[\W_]+", level.lower())]
    found = next((kind for kind in _KINDS if kinds.count(kind) * 2 >= len(slot.levels)), "")
    return found or "variant"


def _value(number: str) -> float | None:
    """Number in a name; None for one with several points, such as a version."""
    match = _NUMBER.fullmatch(number)
    return float(match[1]) * _THOUSANDS[match[2]] if match and match[1].count(".") < 2 else None


def _number(value: object) -> float | None:
    """Number that is printed, or given as text."""
    if isinstance(value, str):
        return _value(value)
    return float(value) if isinstance(value, int | float) and value == value else None


def _is_near(named: float | None, printed: float | None, within: float) -> bool:
    """Whether a number in a name is the printed one."""
    return named is not None and printed is not None and abs(named - printed) <= within * named


def _is(value: object) -> bool:
    return value is not None and value == value
