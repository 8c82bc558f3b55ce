#!/bin/sh
# Print which products were edited, cut, emptied or lost after they were built, so that make builds them again.  A
# notebook lists the SHA-256 of its copy, its figures and its numbers, a study that of its tables.
#
#   products.sh COPY...     executed notebooks; and build/tidy.stamp for the tables, unless make has looked at them
set -u

for copy; do
    sha256sum --check --status --strict "${copy%.ipynb}.sha256" 2>/dev/null || echo "$copy"
done
[ -z "${LOADCURVE_CHECKED:-}" ] || exit 0
for study in data/studies/*/study.yml; do
    study="${study%/study.yml}"
    sha256sum --check --status --strict "build/tidy/${study##*/}/tables.sha256" 2>/dev/null || exec echo build/tidy.stamp
done
