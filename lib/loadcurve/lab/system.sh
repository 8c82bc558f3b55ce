#!/bin/sh
# What this machine needs from its package manager: tools of the laboratory (lab-tools), what its tests take besides
# (lab-test), Chromium for tests (browser).
#
#   system.sh state WHAT     print what is missing, or "complete"
#   system.sh install WHAT   install what is missing, if that is allowed and possible; say so first
#   system.sh install packages NAME...   the same for packages by name
#
# SYSTEM=no installs nothing, SYSTEM=yes does not ask.  Else a person at a terminal is asked first, and without a
# terminal, as in CI, all of it is installed.  No service is ever started or enabled.
set -eu

usage() {
    echo "usage: lib/loadcurve/lab/system.sh state|install lab-tools|lab-test|browser" >&2
    exit 2
}

PATH="$PATH:/usr/sbin:/sbin"
python="${PYTHON:-python3}"
missing=""
need() { # COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || lacking "$2"
}
lacking() { # PACKAGE, once
    case " $missing " in *" $1 "*) ;; *) missing="$missing $1" ;; esac
}
registered() { # GROUP: what the modules of the laboratory register
    listed=$("$python" "$(dirname "$0")/packages.py" "$1")
    while read -r package test; do
        case "$test" in
        # Debian names PHP's programs by their version.
        php-fpm) test="/usr/sbin/php-fpm*" ;;
        esac
        case "$test" in
        /*) ls -d $test >/dev/null 2>&1 || lacking "$package" ;;
        "") ;;
        *) need "$test" "$package" ;;
        esac
    done <<LIST
$listed
LIST
}
case "${2:-}" in
lab-tools)
    registered lab-tools
    # Debian splits venv off; without ensurepip there is no .venv.
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
        missing="$missing $("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    fi
    ;;
lab-test)
    registered lab-test
    # What the tests start beside the laboratory's own tools.
    need ping iputils-ping
    need sshd openssh-server
    need mariadb mariadb-client-core
    need faketime faketime
    ;;
browser)
    # Where Ubuntu's or Google's is there, that will do.
    command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || need chromium chromium
    # Playwright drives Chromium with a node that is linked to this library, which a bare Debian lacks.
    ldconfig -p | grep -q 'libatomic\.so\.1' || missing="$missing libatomic1"
    ;;
packages)
    [ $# -gt 2 ] || usage
    what="$1"
    shift 2
    missing="$*"
    set -- "$what" packages
    ;;
*) usage ;;
esac
missing="${missing# }"

case "$1" in
state) exec echo "${missing:+SYSTEM=${SYSTEM:-ask} missing: }${missing:-complete}" ;;
install) [ -n "$missing" ] || exit 0 ;;
*) usage ;;
esac

without() { # WHY
    echo "$1"
    echo "Going on without."
    exit 0
}
[ "${SYSTEM:-ask}" != no ] || without "SYSTEM=no: not installed: $missing"
command -v apt-get >/dev/null 2>&1 ||
    without "This is not Debian or Ubuntu.  What is missing here, by Debian's names: $missing"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null ||
        without "No right to install.  To have all of it, run:  sudo apt-get install --no-install-recommends $missing"
    as_root="sudo -n"
fi

echo "Missing packages: $missing"
if [ "${SYSTEM:-ask}" = ask ] && [ -z "${CI:-}" ] && { [ -t 0 ] || [ -t 2 ]; }; then
    answer=no
    { printf 'Install them with %s?  [y/N] ' "${as_root:+sudo }apt-get" && read -r answer; } <>/dev/tty >&0 || true
    case "$answer" in
    [yY]*) ;;
    *) without "Not installed.  To install them, run:  make SYSTEM=yes" ;;
    esac
fi
echo "Installing them with ${as_root:+sudo }apt-get; no service is started (make SYSTEM=no installs nothing)"
# Packages of nginx and sysstat start and enable their services.  The programs they would do it with are hidden behind
# ones that do nothing, for the time of this installation and for dpkg alone.
idle=$(mktemp -d)
trap 'rm -rf "$idle"' EXIT
for program in invoke-rc.d deb-systemd-invoke deb-systemd-helper systemctl update-rc.d; do
    printf '#!/bin/sh\nexit 0\n' >"$idle/$program"
    chmod 755 "$idle/$program"
done
chmod 755 "$idle"
# Another package manager may be at work: it is waited for, five minutes at most.
wait_s=300
install() {
    # shellcheck disable=SC2086  # lists of words on purpose
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends \
        -o "DPkg::Lock::Timeout=$wait_s" \
        -o "DPkg::Path=$idle:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" $missing
}
# The lock of the package lists knows no time limit of its own.
update() {
    tries=0
    while ! $as_root apt-get update --quiet=2 >"$idle/update" 2>&1; do
        cat "$idle/update"
        grep -q 'lists/lock' "$idle/update" && [ "$tries" -lt "$wait_s" ] || return 1
        tries=$((tries + 5))
        sleep 5
    done
}
log="$idle/log"
# Old package lists name versions that are gone; then, and only then, fetch new ones.
if ! install >"$log" 2>&1 && ! { update && install; } >>"$log" 2>&1; then
    grep -E '^(E|W):' "$log" | tail -n 3 >&2 || tail -n 3 "$log" >&2
    echo "Not installed: $missing" >&2
    echo "Try:  apt-get update && apt-get install --no-install-recommends $missing" >&2
    echo "or leave the system alone and go on without:  make SYSTEM=no" >&2
    exit 1
fi
