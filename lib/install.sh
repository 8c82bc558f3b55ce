#!/bin/sh
# Install the locked Python packages and this package into .venv, and print how far pip is: its own output is silent for
# minutes, or one line for each of hundreds of files.
#
#   install.sh PYTHON    a Python with pip, in the environment to install into
set -eu
python="$1"
log=build/pip.log
mkdir -p build

packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
progress() {
    fetched=$(grep -c '^Collecting ' "$log" || true)
    if grep -q '^Installing collected packages' "$log"; then
        echo "Python packages: $(find "$packages" -maxdepth 1 -name '*.dist-info' | wc -l) of $fetched installed"
    else
        echo "Python packages: $fetched fetched"
    fi
}

install() {
    "$python" -m pip install --disable-pip-version-check --no-deps "$@" >"$log" 2>&1 &
    pip=$!
    trap 'kill "$pip" 2>/dev/null || true' EXIT INT TERM
    shown=""
    waited=0
    while kill -0 "$pip" 2>/dev/null; do
        sleep 1
        waited=$((waited + 1))
        # One line in five seconds, and none that repeats the last.
        [ $((waited % 5)) -eq 0 ] || continue
        now=$(progress)
        [ "$now" = "$shown" ] || echo "$now"
        shown="$now"
    done
    trap - EXIT INT TERM
    wait "$pip" || {
        tail -n 20 "$log" >&2
        echo "The Python packages were not installed; $log has all that pip printed." >&2
        exit 1
    }
}

echo "Installing the Python packages of lib/requirements.lock into .venv; this takes one to three minutes"
install --require-hashes -r lib/requirements.lock
install --no-build-isolation -e lib
