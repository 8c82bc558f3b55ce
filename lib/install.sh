#!/bin/sh
# Install the packages of a lock file into .venv, and print how far pip is: its own output is silent for minutes, or one
# line for each of hundreds of files.
#
#   install.sh PYTHON LOCK [FOLDER]    a Python with pip, in the environment to install into; a package to edit here
#
# pip fetches and unpacks one package after the other, so each processor runs one with a share of the lock; the lock
# names every package, so no pip has to know of another's.  Modules are compiled when they are first imported.
set -eu
python="$1"
lock="$2"
edited="${3:-}"
parts="build/pip/$(basename "$lock" .lock)" # of its own: make may install several locks at the same time
rm -rf "$parts"
mkdir -p "$parts"
shares=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
[ "$shares" -le 4 ] || shares=4

install() { # LOG OPTION...
    log=$1
    shift
    "$python" -m pip install --disable-pip-version-check --no-deps --no-compile "$@" >"$log" 2>&1
}

failed() { # LOG
    tail -n 20 "$1" >&2
    echo "The Python packages were not installed; $1 has all that pip printed." >&2
    exit 1
}

echo "Installing the Python packages of $lock into .venv; this takes about a minute"
awk -v parts="$parts" -v shares="$shares" '/^[A-Za-z]/ { n++ } n { print > (parts "/" n % shares ".txt") }' "$lock"
listed=$(cat "$parts"/*.txt | grep -c '^[A-Za-z]')
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
installed() { find "$packages" -maxdepth 1 -name '*.dist-info' | wc -l; }
before=$(installed)
report() { # one line in five seconds, and none that repeats the last
    while sleep 5 >/dev/null 2>&1; do
        fetched=$(cat "$parts"/*.log | grep -c '^Collecting ' || true)
        now="Python packages: $fetched of $listed found, $(($(installed) - before)) installed"
        [ "$now" = "${shown:-}" ] || echo "$now"
        shown="$now"
    done
}
pips=""
report &
reporter=$!
trap 'kill $reporter $pips 2>/dev/null || true' EXIT INT TERM
for part in "$parts"/*.txt; do
    install "${part%.txt}.log" --require-hashes -r "$part" &
    pips="$pips $!"
done
set -- "$parts"/*.txt
for pip in $pips; do
    wait "$pip" || failed "${1%.txt}.log"
    shift
done
[ -z "$edited" ] || install "$parts/edited.log" --no-build-isolation -e "$edited" || failed "$parts/edited.log"
