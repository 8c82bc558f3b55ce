#!/bin/sh
# Print which products were edited, cut, emptied or lost after they were built, so that make builds them again.  A
# notebook lists the SHA-256 of its copy, its figures and its numbers, a study that of its tables.
#
#   products.sh COPY...     executed notebooks; and build/tidy.stamp for the tables, unless make has looked at them
set -u

whole() { # LIST
    sha256sum --check --status --strict "$1" 2>/dev/null
}

for copy; do
    whole "${copy%.ipynb}.sha256" || echo "$copy"
done
[ -z "${LOADCURVE_CHECKED:-}" ] || exit 0
for study in data/studies/*/study.yml; do
    study="${study%/study.yml}"
    whole "build/tidy/${study##*/}/tables.sha256" || { echo build/tidy.stamp; break; }
done
