"""Every form of output that can be read, found in the modules that parse them.

To add a form: a module with a ``parse_*`` function and its `Form` constant in one of the packages below, and a fixture.
"""

from functools import cache

from loadcurve.discovery import registered
from loadcurve.errors import LoadcurveError
from loadcurve.ingest import balancers, kernel, load, servers, sockets, sysstat
from loadcurve.ingest.form import Form

PACKAGES = (load, sysstat, sockets, balancers, servers, kernel)


def ordered(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    """Return forms in order, each before those that its `before` names."""
    names = {form.name for form in forms}
    unknown = {name for form in forms for name in form.before} - names
    left, found = list(forms), []
    while left and not unknown:
        first = next((form for form in left if not any(form.name in other.before for other in left)), None)
        if first is None:
            break
        left.remove(first)
        found.append(first)
    if unknown or left:
        cycle = unknown or {form.name for form in left}
        raise LoadcurveError(f"before must name known forms without a cycle, got {', '.join(sorted(cycle))}")
    return tuple(found)


FORMS = ordered(tuple(form for package in PACKAGES for form in registered(package, Form)))


@cache
def form_of(tool: str, variant: str) -> Form | None:
    """Return the form that `run.json` names; None where its output is not read."""
    return next((form for form in FORMS if (form.tool, form.variant) == (tool, variant)), None)


@cache
def forms_of(tool: str) -> tuple[Form, ...]:
    """Return the forms of a tool, its main form first, or the form that ``TOOL:VARIANT`` names; () if unknown."""
    found = (form for form in FORMS if tool in (form.tool, form.name))
    return tuple(sorted(found, key=lambda form: form.variant != ""))
