"""The audit rules in the handbook, derived from their registration: a table, the navigation, a page for each rule."""

import inspect
import sys

from loadcurve.audit import Rule, all_rules

FOLDER = "rules"


def rules_markdown() -> str:
    """Every rule as a row of a Markdown table: its name, with a link to its page, and its question."""
    rows = [f"| [{rule.name}]({rule.name}.md) | {rule.question} |" for rule in all_rules().values()]
    return "\n".join(["| rule | question |", "|---|---|", *rows])


def rule_markdown(name: str) -> str:
    """A rule's question, and when it reports each severity, as Markdown."""
    rule = all_rules()[name]
    rows = [f"| {severity} | {when} |" for severity, when in rule.severities.items()]
    return "\n".join([f"**{rule.question}**", "", "| severity | when |", "|---|---|", *rows])


def page_markdown(rule: Rule) -> str:
    """Page of a rule without a handwritten page: its question, its severities and the docstring of its module."""
    about = inspect.getdoc(sys.modules[rule.find.__module__]) or ""
    return f"# {rule.name}\n\n{rule_markdown(rule.name)}\n\n{about.replace('``', '`')}\n"


def pages() -> dict[str, str]:
    """Return the heading of each rule in the navigation, and the path of its page."""
    return {name.replace("-", " ").capitalize(): f"{FOLDER}/{name}.md" for name in all_rules()}
