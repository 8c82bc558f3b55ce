"""Generate the handbook's pages about audit rules: a table, the navigation, and a page for each rule."""

import inspect
import sys

from loadcurve.audit import Rule, all_rules

FOLDER = "rules"


def rules_markdown() -> str:
    """Return a Markdown table of the rules: name with a link to the page, and question."""
    rows = [f"| [{rule.name}]({rule.name}.md) | {rule.question} |" for rule in all_rules().values()]
    return "\n".join(["| rule | question |", "|---|---|", *rows])


def rule_markdown(name: str) -> str:
    """Return a rule's question, the conditions of each severity, its limits and what it needs, as Markdown."""
    rule = all_rules()[name]
    lines = [f"**{rule.question}**", "", "| severity | when |", "|---|---|"]
    lines += [f"| {severity} | {when} |" for severity, when in rule.severities.items()]
    if rule.limits:
        lines += ["", "| limit | value | reason |", "|---|---|---|"]
        lines += [f"| {name} | {limit.value:g} | {limit.reason} |" for name, limit in rule.limits.items()]
    if records := dict.fromkeys(need.record for need in rule.needs if need.record):
        lines += ["", f"It needs {' and '.join(need.what for need in rule.needs)}. {' '.join(records)}"]
    return "\n".join(lines)


def page_markdown(rule: Rule) -> str:
    """Return the page of a rule without a handwritten page: question, severities and docstring of the rule's module."""
    about = inspect.getdoc(sys.modules[rule.find.__module__]) or ""
    return f"# {rule.name}\n\n{rule_markdown(rule.name)}\n\n{about.replace('``', '`')}\n"


def pages() -> dict[str, str]:
    """Return the heading of each rule in the navigation, and the path of its page."""
    return {name.replace("-", " ").capitalize(): f"{FOLDER}/{name}.md" for name in all_rules()}
