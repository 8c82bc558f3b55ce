#!/bin/sh
# Make one goal after the other while no other make is at work in this checkout; wait for it, and say so once.
#
#   alone.sh MAKE GOAL...
#
# The Makefile itself is what is locked, so nothing is left behind and a killed make holds no lock.
set -eu
make="$1"
shift

# With -n and -q make builds nothing, so it waits for nobody: single letters are the first word of MAKEFLAGS.
case "${MAKEFLAGS%% *}" in
-*) ;;
*[nq]*) unlocked=yes ;;
esac
if [ -z "${unlocked:-}" ]; then
    exec 9<Makefile
    if ! flock --nonblock 9; then
        echo "Another make is at work in this folder; waiting until it ends." >&2
        flock 9
    fi
fi
for goal; do
    "$make" --no-print-directory "$goal" 9<&-
    [ -n "${unlocked:-}" ] || export LOADCURVE_CHECKED=yes # tools and tables, by the first
done
