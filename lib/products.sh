#!/bin/sh
# Remove what was edited, cut, emptied or lost after it was built, so that make builds it again.  A notebook lists the
# SHA-256 of its copy, its figures and its numbers, a study that of its tables, and the site its files.
set -u

whole() { # LIST
    sha256sum --check --status --strict "$1" 2>/dev/null
}

for copy in build/notebooks/*.ipynb; do
    made="${copy%.ipynb}"
    [ ! -e "$copy" ] || whole "$made.sha256" || rm -f -- "$copy" "$made.d"
done
for study in data/studies/*/study.yml; do
    study="${study%/study.yml}"
    [ ! -e build/tidy.stamp ] || whole "build/tidy/${study##*/}/tables.sha256" || rm -f build/tidy.stamp
done
