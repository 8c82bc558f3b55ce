"""Which rules of the audit run and with which limits: `[audit]` of loadcurve.toml, `audit` of study.yml, options."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadcurve.audit.explanation import one_listed
from loadcurve.audit.rule import Rule
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.reads import record_reads
from loadcurve.paths import is_own_file
from loadcurve.study.manifest import accepted

if TYPE_CHECKING:
    from loadcurve.study import Study

FILE = "loadcurve.toml"
_KEYS = ("select", "ignore", "limits")


@dataclass(frozen=True)
class AuditSettings:
    """Which rules run, and with which limits.

    Attributes
    ----------
    select : tuple of str
        Names of the rules that run; empty for all.
    ignore : mapping of str to str
        Rule -> the reason why its findings do not count.
    limits : mapping of str to mapping of str to float
        Rule -> limit -> value.
    origins : mapping of str to str
        ``select``, or ``RULE.LIMIT`` -> the file, or the options, that set it.

    Examples
    --------
    >>> AuditSettings(ignore={"steal-time": "a shared runner"}).ignore["steal-time"]
    'a shared runner'
    """

    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    def over(self, other: "AuditSettings") -> "AuditSettings":
        """Return these settings where they say something, else those of `other`."""
        limits = {**other.limits}
        for rule, values in self.limits.items():
            limits[rule] = {**limits.get(rule, {}), **values}
        origins = {**other.origins, **self.origins}
        return AuditSettings(self.select or other.select, {**other.ignore, **self.ignore}, limits, origins)

    def differences(self, rules: Mapping[str, Rule]) -> tuple[str, ...]:
        """Return a sentence for what differs from an audit without settings: selected rules, and each other limit.

        Examples
        --------
        >>> from loadcurve.audit import all_rules
        >>> changed = build_settings({"limits": {"timeouts": {"warning": 0.5}}}, all_rules(), "options")
        >>> changed.differences(all_rules())
        ('Limit timeouts.warning is 0.5 instead of 0.001 (options).',)
        """
        named = self.origins.get
        found = [f"Only selected rules ran: {', '.join(self.select)} ({named('select', 'settings')})."]
        found = found if self.select else []
        for rule, limits in self.limits.items():
            for limit, value in limits.items():
                default, name = rules[rule].limits[limit].value, f"{rule}.{limit}"
                if value != default and rule in (self.select or rules):
                    origin = named(name, "settings")
                    found.append(f"Limit {name} is {value:g} instead of {default:g} ({origin}).")
        return tuple(found)


def build_settings(values: Any, rules: Mapping[str, Rule], where: str) -> AuditSettings:
    """Return checked settings.

    Parameters
    ----------
    values : mapping
        With the keys ``select`` (list of rules), ``ignore`` (rule: reason), ``limits`` (rule: {limit: number}).
    rules : mapping of str to Rule
        The rules there are.
    where : str
        Names the source in errors.

    Raises
    ------
    LoadcurveError
        In one line, for an unknown key, rule or limit, and for a value of another type.

    Examples
    --------
    >>> build_settings({"ignore": {"speed": "why"}}, {}, "loadcurve.toml")
    Traceback (most recent call last):
    loadcurve.errors.LoadcurveError: loadcurve.toml: expected a rule that loadcurve explain lists, got 'speed'
    """
    _of_type(values, Mapping, "a table", where)
    for key in values:
        _one_of(key, _KEYS, "a key", where)
    select, ignore, limits = values.get("select", ()), values.get("ignore", {}), values.get("limits", {})
    _of_type(select, (list, tuple), "a list of rules as select", where)
    _of_type(ignore, Mapping, "rule = reason in ignore", where)
    _of_type(limits, Mapping, "a table for each rule in limits", where)
    for name in [*select, *ignore, *limits]:
        if name not in rules:
            raise LoadcurveError(f"{where}: expected {one_listed(str(name), rules)}, got {name!r}")
    for name, reason in ignore.items():
        if not isinstance(reason, str) or not reason.strip():
            raise LoadcurveError(f"{where}: expected a reason for ignoring {name}, got {reason!r}")
    for name, own in limits.items():
        _of_type(own, Mapping, f"limit = number for {name}", where)
        for limit, value in own.items():
            _one_of(limit, rules[name].limits, f"a limit of {name}", where)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise LoadcurveError(f"{where}: expected a number as {name}.{limit}, got {value!r}")
            if not 0 <= value < float("inf"):
                raise LoadcurveError(
                    f"{where}: expected a number of at least 0 as {name}.{limit}, got {value!r} (ignore turns it off)"
                )
    origins = {f"{name}.{limit}": where for name, own in limits.items() for limit in own}
    origins |= {"select": where} if select else {}
    return AuditSettings(tuple(select), dict(ignore), {name: dict(own) for name, own in limits.items()}, origins)


def parse_settings(
    select: Sequence[str], ignore: Sequence[str], limits: Sequence[str], rules: Mapping[str, Rule]
) -> AuditSettings:
    """Return the settings that options of the command line give.

    Parameters
    ----------
    select : sequence of str
        Names of rules.
    ignore : sequence of str
        ``RULE=REASON`` each.
    limits : sequence of str
        ``RULE.LIMIT=NUMBER`` each.
    rules : mapping of str to Rule
        The rules there are.

    Raises
    ------
    LoadcurveError
        When an option has another form, or as `build_settings`.
    """
    reasons: dict[str, str] = {}
    values: dict[str, dict[str, float]] = {}
    for text in ignore:
        rule, equals, reasons[rule] = text.partition("=")
        if not equals:
            raise LoadcurveError(f"--ignore must be RULE=REASON, got {text!r}")
    for text in limits:
        name, _, number = text.partition("=")
        rule, _, limit = name.partition(".")
        try:
            values.setdefault(rule, {})[limit] = float(number)
        except ValueError:
            raise LoadcurveError(f"--limit must be RULE.LIMIT=NUMBER, got {text!r}") from None
    return build_settings({"select": tuple(select), "ignore": reasons, "limits": values}, rules, "options")


def default_settings(rules: Mapping[str, Rule], data: Path | None = None, *, follow: bool = False) -> AuditSettings:
    """Return the settings that hold for some data: those of their study over those of the working directory.

    Parameters
    ----------
    rules : mapping of str to Rule
        The rules there are.
    data : pathlib.Path, optional
        Folder of a study or of one of its runs, whose study.yml may have a section ``audit``.
    follow : bool
        Whether the study.yml may be a link that leads out of its folder.

    Raises
    ------
    LoadcurveError
        As `read_settings`, and when the study.yml is wrong.
    """
    own = AuditSettings()
    for folder in (data, data.absolute().parent) if data is not None else ():
        if is_own_file(folder / "study.yml", follow=follow):
            from loadcurve.study.records import read_study  # with pydantic, which files without a study do not need

            record_reads([folder / "study.yml"])
            own = study_settings(read_study(folder), rules)
            break
    return own.over(read_settings(rules))


def study_settings(study: "Study", rules: Mapping[str, Rule]) -> AuditSettings:
    """Return the settings in the section ``audit`` of a study.

    Raises
    ------
    LoadcurveError
        As `build_settings`.
    """
    accepted(study)  # raises for what is no mapping of names to reasons
    values = {key: value for key, value in study.audit.items() if key != "accept"}
    return build_settings(values, rules, f"{study.study}/study.yml audit")


def read_settings(rules: Mapping[str, Rule], folder: Path | None = None) -> AuditSettings:
    """Read `[audit]` of the loadcurve.toml in a folder, by default the working directory; without it, the defaults.

    Raises
    ------
    LoadcurveError
        When the file is not TOML, or as `build_settings`.
    """
    path = (folder or Path()) / FILE
    if not path.is_file():
        return AuditSettings()
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LoadcurveError(f"{path}: expected TOML, got {error}") from None
    return build_settings(values.get("audit", {}), rules, f"{path} [audit]")


def _of_type(value: Any, kind: Any, expected: str, where: str) -> None:
    if not isinstance(value, kind):
        raise LoadcurveError(f"{where}: expected {expected}, got {value!r}")


def _one_of(name: Any, known: Sequence[str] | Mapping[str, Any], expected: str, where: str) -> None:
    if name not in known:
        raise LoadcurveError(f"{where}: expected {expected} ({', '.join(known) or 'none'}), got {name!r}")
