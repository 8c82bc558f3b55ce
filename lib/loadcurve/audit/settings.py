"""Which rules of the audit run and with which limits: `[audit]` of loadcurve.toml, `audit` of study.yml, options."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadcurve.audit.explanation import one_listed
from loadcurve.audit.rule import Rule
from loadcurve.errors import LoadcurveError
from loadcurve.files.document import Document, Place, read_toml
from loadcurve.files.paths import is_own_file
from loadcurve.files.reads import record_reads
from loadcurve.study.manifest import accepted

if TYPE_CHECKING:
    from loadcurve.study import Study

FILE = "loadcurve.toml"
_KEYS: dict[str, tuple[Any, str]] = {
    "select": ((list, tuple), "a list of rules as select"),
    "ignore": (Mapping, "rule = reason in ignore"),
    "limits": (Mapping, "a table for each rule in limits"),
}


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
    fault_on_purpose : bool
        Whether the study plants a fault that the audit should find.

    Examples
    --------
    >>> AuditSettings(ignore={"steal-time": "a shared runner"}).ignore["steal-time"]
    'a shared runner'
    """

    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    fault_on_purpose: bool = False

    def over(self, other: "AuditSettings") -> "AuditSettings":
        """Return these settings where they say something, else those of `other`."""
        limits = {**other.limits}
        for rule, values in self.limits.items():
            limits[rule] = {**limits.get(rule, {}), **values}
        origins = {**other.origins, **self.origins}
        ignore, planted = {**other.ignore, **self.ignore}, self.fault_on_purpose or other.fault_on_purpose
        return AuditSettings(self.select or other.select, ignore, limits, origins, planted)

    def differences(self, rules: Mapping[str, Rule]) -> tuple[str, ...]:
        """Return a sentence for what differs from an audit without settings: selected rules, and each other limit."""
        named = self.origins.get
        found = [f"Only selected rules ran: {', '.join(self.select)} ({named('select', 'settings')})."]
        found = found if self.select else []
        if self.fault_on_purpose:
            found.append(
                "This study plants a fault on purpose, so the audit should find it (fault_on_purpose in study.yml)."
            )
        for rule, limits in self.limits.items():
            for limit, value in limits.items():
                default, name = rules[rule].limits[limit].value, f"{rule}.{limit}"
                if value != default and rule in (self.select or rules):
                    origin = named(name, "settings")
                    found.append(f"Limit {name} is {value:g} instead of {default:g} ({origin}).")
        return tuple(found)


def build_settings(
    values: Any, rules: Mapping[str, Rule], where: str, document: Document | None = None
) -> AuditSettings:
    """Return checked settings."""
    for place, expected, got in _broken(values, rules):
        at = f"{document.path}:{document.line(('audit', *place))}" if document else where
        raise LoadcurveError(f"{at}: expected {expected}, got {repr(got)[:80]}")
    select, ignore, limits = values.get("select", ()), values.get("ignore", {}), values.get("limits", {})
    origins = {f"{name}.{limit}": where for name, own in limits.items() for limit in own}
    origins |= {"select": where} if select else {}
    return AuditSettings(tuple(select), dict(ignore), {name: dict(own) for name, own in limits.items()}, origins)


def _broken(values: Any, rules: Mapping[str, Rule]) -> Iterator[tuple[Place, str, Any]]:
    """Yield the place of each wrong value, what was expected and what was got, as far as the values can be read."""
    if not isinstance(values, Mapping):
        yield (), "a table", values
        return
    for key, value in values.items():
        if key not in _KEYS:
            yield (key,), f"a key ({', '.join(_KEYS)})", key
        elif not isinstance(value, _KEYS[key][0]):
            yield (key,), _KEYS[key][1], value
            continue
        for name in value if key in _KEYS else ():
            if not isinstance(name, str) or name not in rules:
                yield (key, name), one_listed(str(name), rules), name
            elif key == "ignore" and (not isinstance(value[name], str) or not value[name].strip()):
                yield (key, name), f"a reason for ignoring {name}", value[name]
            elif key == "limits":
                yield from (((key, name, *place), *fault) for place, *fault in _broken_limits(name, value[name], rules))


def _broken_limits(name: str, own: Any, rules: Mapping[str, Rule]) -> Iterator[tuple[Place, str, Any]]:
    if not isinstance(own, Mapping):
        yield (), f"limit = number for {name}", own
        return
    for limit, value in own.items():
        if limit not in rules[name].limits:
            yield (limit,), f"a limit of {name} ({', '.join(rules[name].limits) or 'none'})", limit
        elif isinstance(value, bool) or not isinstance(value, int | float):
            yield (limit,), f"a number as {name}.{limit}", value
        elif not 0 <= value < float("inf"):
            yield (limit,), f"a number of at least 0 as {name}.{limit} (ignore turns it off)", value


def parse_settings(
    select: Sequence[str], ignore: Sequence[str], limits: Sequence[str], rules: Mapping[str, Rule]
) -> AuditSettings:
    """Return the settings that options of the command line give."""
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
    """Return the settings that hold for some data: those of their study over those of the working directory."""
    own = AuditSettings()
    for folder in (data, data.absolute().parent) if data is not None else ():
        if is_own_file(folder / "study.yml", follow=follow):
            from loadcurve.study.records import read_study  # with pydantic, which files without a study do not need

            record_reads([folder / "study.yml"])
            own = study_settings(read_study(folder), rules)
            break
    return own.over(read_settings(rules))


def study_settings(study: "Study", rules: Mapping[str, Rule]) -> AuditSettings:
    """Return the settings in the section ``audit`` of a study."""
    accepted(study)  # raises for what is no mapping of names to reasons
    values = {key: value for key, value in study.audit.items() if key != "accept"}
    settings = build_settings(values, rules, f"{study.study}/study.yml audit")
    return replace(settings, fault_on_purpose=study.fault_on_purpose)


def read_settings(rules: Mapping[str, Rule], folder: Path | None = None) -> AuditSettings:
    """Read `[audit]` of the loadcurve.toml in a folder, by default the working directory; without it, the defaults."""
    path = (folder or Path()) / FILE
    if not path.exists():
        return AuditSettings()
    document = read_toml(path)
    return build_settings(document.values.get("audit", {}), rules, f"{path} [audit]", document)
