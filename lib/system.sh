#!/bin/sh
# Install what this machine lacks: `lab` = tools of the laboratory, `browser` = Chromium for the tests.
# Says first what it does.  SYSTEM=no leaves the system alone.  Never starts or enables a service.
set -eu

case "${1:-}" in
lab) wanted="wrk:wrk ab:apache2-utils nginx:nginx sar:sysstat ss:iproute2" ;;
browser) wanted="chromium:chromium" ;;
*) echo "usage: lib/system.sh lab|browser" >&2; exit 2 ;;
esac

PATH="$PATH:/usr/sbin:/sbin"
missing=""
for pair in $wanted; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
if [ "$1" = lab ]; then
    # The `delay` server waits on nginx's echo module, which Debian packages by itself.
    [ -e /usr/lib/nginx/modules/ngx_http_echo_module.so ] || missing="$missing libnginx-mod-http-echo"
    # Debian splits venv off; without ensurepip there is no .venv.
    "${PYTHON:-python3}" -c 'import ensurepip' 2>/dev/null ||
        missing="$missing $("${PYTHON:-python3}" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
fi
if [ "$1" = browser ]; then
    # Playwright drives Chromium with a node that is linked to this library, which a bare Debian lacks.
    ldconfig -p | grep -q 'libatomic\.so\.1' || missing="$missing libatomic1"
fi
missing="${missing# }"
[ -n "$missing" ] || exit 0

if [ "${SYSTEM:-yes}" = no ]; then
    echo "SYSTEM=no: not installed: $missing"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is not Debian or Ubuntu.  The laboratory needs: $missing (names of Debian's packages)."
    echo "Going on with recorded data."
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        echo "No right to install.  To measure on this machine, run:  sudo apt-get install --no-install-recommends $missing"
        echo "Going on with recorded data."
        exit 0
    fi
fi

echo "Installing $missing (apt-get; no service is started; SYSTEM=no leaves the system alone)"
# Packages of nginx and sysstat start and enable their services.  The programs they would do it with are hidden behind
# ones that do nothing, for the time of this installation and for dpkg alone.
idle=$(mktemp -d)
trap 'rm -rf "$idle"' EXIT
for program in invoke-rc.d deb-systemd-invoke deb-systemd-helper systemctl update-rc.d; do
    printf '#!/bin/sh\nexit 0\n' >"$idle/$program"
    chmod 755 "$idle/$program"
done
chmod 755 "$idle"
install() {
    # shellcheck disable=SC2086  # lists of words on purpose
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends \
        -o "DPkg::Path=$idle:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" $missing
}
log="$idle/log"
# Old package lists name versions that are gone; then, and only then, fetch new ones.
if ! install >"$log" 2>&1; then
    $as_root apt-get update --quiet=2
    install >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
