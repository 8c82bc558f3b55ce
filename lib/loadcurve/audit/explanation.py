"""What a rule means, for people who read its finding: the docstring of its module, in parts and without markup.

The docstring begins with the fault in one sentence; its sections have underlined headings.
"""

import difflib
import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from loadcurve.audit.rule import Rule
from loadcurve.blocks import Block, Code, Grid, Items, Paragraph, Section
from loadcurve.errors import LoadcurveError

_HEADING = re.compile(r"^(\S.*)\n-{3,}[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^```.*$")
_LIST = re.compile(r"^(?:[*-]|\d+\.)\s+")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_STRONG = re.compile(r"\*\*(?! )(.+?)(?<! )\*\*|(?<![\w*])\*(?! )([^*\n]+?)(?<! )\*(?![\w*])")
_FORMULA = re.compile(r"\$\$?(.+?)\$\$?", re.DOTALL)
_SIGNS = {
    "cdot": "·", "times": "×", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "approx": "≈", "ne": "≠", "pm": "±",
    "sum": "Σ", "chi": "χ", "sigma": "σ", "alpha": "α", "lambda": "λ", "mu": "μ", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "sqrt": "√", "infty": "∞", "ll": "≪", "gg": "≫", "dots": "…", "ldots": "…",
    "quad": " ", "left": "", "right": "", ",": " ", ";": " ", "%": "%",
}  # fmt: skip
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


@dataclass(frozen=True)
class Explanation:
    """What a rule checks, and what to do about its finding."""

    rule: Rule  # Its question, severities, limits and needs are shown too
    fault: str  # What was found and what follows from it, in a sentence; each finding quotes it
    sections: Mapping[str, str]  # Heading -> Markdown

    def blocks(self) -> list[Block]:
        """Return everything a reader may want to know about the rule."""
        rule = self.rule
        limits = [[name, f"{one.value:g}", one.reason] for name, one in rule.limits.items()]
        records: dict[str, list[str]] = {}
        for need in rule.needs:
            records.setdefault(need.record, []).append(need.what)
        needs = [": ".join(filter(None, (", ".join(what), record))) for record, what in records.items()]
        return [
            Paragraph(rule.name, self.fault),
            Paragraph("", rule.question),
            *(Section(heading, markdown_blocks(text)) for heading, text in self.sections.items()),
            Grid(["severity", "when"], [[*one] for one in rule.severities.items()], "Severities", left=2),
            *([Grid(["limit", "value", "reason"], limits, "Limits", left=3)] if limits else []),
            Items("Needs", needs, numbered=True),
        ]


def explain(rule: Rule) -> Explanation:
    """Return the explanation of a rule, from the docstring of its module."""
    text = inspect.cleandoc(sys.modules[rule.find.__module__].__doc__ or "")
    first, _, rest = text.partition("\n\n")
    parts = _HEADING.split(rest)
    sections = {heading: body.strip("\n") for heading, body in zip(parts[1::2], parts[2::2], strict=True)}
    return Explanation(rule, plain_markup(first.replace("\n", " ")), sections)


def rule_named(name: str, rules: Mapping[str, Rule]) -> Rule:
    """Return a rule by its name."""
    if name in rules:
        return rules[name]
    words = name.lower().replace("_", "-").replace(" ", "-")
    if words in rules:
        return rules[words]
    raise LoadcurveError(f"expected {one_listed(words, rules)}, got {name!r}")


def one_listed(name: str, rules: Mapping[str, Rule]) -> str:
    """Return what a name of a rule must be, in words, with the names that are nearest to a wrong one."""
    near = [one for one in rules if name and (name in one or one in name)]
    near += [one for one in difflib.get_close_matches(name, rules, n=3, cutoff=0.5) if one not in near]
    return "a rule that loadcurve explain lists" + (f", such as {', '.join(near[:3])}" if near else "")


def markdown_blocks(text: str) -> list[Block]:
    """Return the paragraphs, lists and code blocks of a Markdown text."""
    blocks: list[Block] = []
    lines: list[str] = []

    def close() -> None:
        if not lines:
            return
        if _LIST.match(lines[0].lstrip()):
            entries: list[str] = []
            for line in lines:
                if _LIST.match(line.lstrip()):
                    entries.append(_LIST.sub("", line.lstrip()))
                else:
                    entries[-1] += f" {line.strip()}"
            blocks.append(Items("", [plain_markup(entry) for entry in entries]))
        elif all(line.startswith("    ") for line in lines):
            blocks.append(Code("\n".join(line[4:] for line in lines)))
        elif all(line.startswith("|") for line in lines):
            rows = [[plain_markup(cell.strip()) for cell in line.strip("| ").split("|")] for line in lines]
            blocks.append(Grid(rows[0], rows[2:], "Table", left=len(rows[0])))
        else:
            blocks.append(Paragraph("", plain_markup(" ".join(" ".join(lines).split()))))
        lines.clear()

    code: list[str] | None = None
    for line in text.splitlines():
        if _FENCE.match(line.strip()):
            if code is None:
                close()
                code = []
            else:
                blocks.append(Code("\n".join(code)))
                code = None
        elif code is not None:
            code.append(line)
        elif not line.strip():
            close()
        else:
            lines.append(line)
    close()
    return blocks


def plain_markup(text: str) -> str:
    r"""Return a text without Markdown, except backticks around code; formulas become plain text.

    Examples
    --------
    >>> plain_markup(r"**So** ``ss -s`` shows $N_\text{eff} = \frac{X}{2}$ ([Little](https://example.org)).")
    'So `ss -s` shows N_eff = X / 2 (Little, https://example.org).'
    """
    codes: list[str] = []

    def kept(found: re.Match[str]) -> str:
        codes.append(found[1] or found[2])
        return f"\0{len(codes) - 1}\0"

    text = re.sub(r"``(.+?)``|`([^`]+)`", kept, text)
    text = _FORMULA.sub(lambda found: plain_formula(found[1]), text)
    text = _STRONG.sub(lambda found: found[1] or found[2], text)
    text = _LINK.sub(lambda found: f"{found[1]}, {found[2]}" if "://" in found[2] else found[1], text)
    return re.sub(r"\0(\d+)\0", lambda found: f"`{codes[int(found[1])]}`", text)


def plain_formula(formula: str) -> str:
    r"""Return a formula of LaTeX as plain text.

    Examples
    --------
    >>> plain_formula(r"t \lfloor N/t \rfloor \le X^2")
    't ⌊N/t⌋ ≤ X²'
    """
    text = re.sub(rf"\\(?:text|mathrm|operatorname|mathit){_GROUP}", r"\1", formula)
    for _ in range(3):  # fractions in fractions
        text = re.sub(rf"\\[dt]?frac{_GROUP}{_GROUP}", lambda found: f"{_term(found[1])} / {_term(found[2])}", text)
    text = re.sub(r"\\([A-Za-z]+|[,;%])", lambda found: _SIGNS.get(found[1], found[1]), text)
    text = re.sub(rf"([_^]){_GROUP}", r"\1\2", text).replace("^2", "²").replace("^3", "³").replace("{,}", ",")
    text = re.sub(r"⌊ *(.*?) *⌋", r"⌊\1⌋", re.sub(r"√ *\{(.*?)\}", r"√(\1)", text))
    return " ".join(text.split())


def _term(text: str) -> str:
    return f"({text})" if re.search(r"[-+ ]", text.strip()) else text.strip()
