"""Packages of Debian that the laboratory needs: ``python3 packages.py GROUP [FOLDER]`` prints PACKAGE TEST for each.

TEST is a command, or a path (a pattern of the shell) that the package installs.  `system.sh` runs this script before
there is a Python environment, so it imports only the standard library and reads the registrations from the source:
calls ``Tool(…)`` and ``PackageFile(…)`` with literal arguments.
"""

import ast
import sys
from pathlib import Path

LABORATORY = Path(__file__).parent
# Positional arguments, as `loadcurve.lab.hosts.tools` declares them, and their defaults.
PARAMETERS = {
    "Tool": {"name": "", "use": "", "version_option": "", "package": "", "source": "", "group": "lab-test"},
    "PackageFile": {"package": "", "path": "", "use": "", "group": "lab-test"},
}


if __name__ == "__main__":
    group, *folder = sys.argv[1:]
    found = set()
    for path in Path(*folder or [str(LABORATORY)]).rglob("*.py"):
        text = path.read_text("utf-8")
        if not any(f"{kind}(" in text for kind in PARAMETERS):
            continue
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in PARAMETERS:
                continue
            if all(isinstance(argument, ast.Constant) for argument in call.args):
                defaults = PARAMETERS[call.func.id]
                given = dict(zip(defaults, map(ast.literal_eval, call.args), strict=False))
                one = defaults | given | {word.arg: ast.literal_eval(word.value) for word in call.keywords}
                if one["package"] and one["group"] == group:
                    found.add(f"{one['package']} {one.get('path') or one['name']}")
    for line in sorted(found):
        print(line)
