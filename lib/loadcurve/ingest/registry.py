"""Every form of output that can be read.

To add a tool: one module with a ``parse_*`` function, its line among the forms of its family, one folder of fixtures,
one page of the handbook.
"""

from functools import cache

from loadcurve.ingest.balancers.forms import FORMS as BALANCERS
from loadcurve.ingest.form import Form
from loadcurve.ingest.kernel.forms import FORMS as KERNEL
from loadcurve.ingest.load.forms import FORMS as LOAD
from loadcurve.ingest.servers.forms import FORMS as SERVERS
from loadcurve.ingest.sockets.forms import FORMS as SOCKETS
from loadcurve.ingest.sysstat.forms import FORMS as SYSSTAT

# The first form whose signature is found first in the text reads it; at the same place, the one further up.
FORMS = (*LOAD, *SYSSTAT, *SOCKETS, *BALANCERS, *SERVERS, *KERNEL)


def form_of(tool: str, variant: str) -> Form | None:
    """Return the form that `run.json` names; None where its output is not read."""
    return next((form for form in FORMS if (form.tool, form.variant) == (tool, variant)), None)


@cache
def forms_of(tool: str) -> tuple[Form, ...]:
    """Return the forms of a tool, or the one form that ``TOOL:VARIANT`` names; none where there is no such tool."""
    return tuple(form for form in FORMS if tool in (form.tool, form.name))
