#!/bin/sh
# publish.sh OUT [URL]: put the built handbook into OUT/VERSION, beside the versions that are there.  Any web server can
# serve OUT, from any folder.  Only with its URL there is a site map and a card for social networks, as both need it.
set -eu
out=${1:-} url=${2:-}
[ -n "$out" ] || { echo "expected a folder, as in make publish OUT=folder" >&2; exit 2; }
site=build/site
[ -f $site/index.html ] || { echo "expected the built handbook in $site: run make first" >&2; exit 1; }
version=$(git describe --tags --always | tr / -)
[ -z "$(git status --porcelain --untracked-files=no)" ] || version=$version-changed
commit=$(git rev-parse HEAD)
mkdir -p "$out"
new=$out/.$version.$$
trap 'rm -rf "$new"' EXIT INT TERM
cp -R $site "$new"

card=
if [ -n "$url" ]; then
    url=${url%/}
    base=$url/$version
    drawing=build/figures/01_your_own_files/throughput.svg
    chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
    if [ -n "$chromium" ] && [ -f "$drawing" ]; then
        {
            echo '<body style="margin:40px;font:48px sans-serif;color:#1f5f96"><b>loadcurve</b>'
            echo '<p style="font-size:32px;margin:8px 0;color:#333">Load tests that can be believed</p>'
            echo '<style>svg{width:auto;height:440px}</style>'
            sed 's/^<?xml.*?>//' "$drawing"
        } > "$new/card.html"
        "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,630 \
            --screenshot="$new/card.png" "$new/card.html" > /dev/null 2>&1
        rm "$new/card.html"
        card="<meta property=\"og:image\" content=\"$base/card.png\"><meta name=\"twitter:card\" content=\"summary_large_image\">"
    fi
    {
        echo '<?xml version="1.0" encoding="UTF-8"?>'
        echo '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        (cd "$new" && find . -name '*.html' ! -name 404.html | LC_ALL=C sort | sed "s|^\./\(.*\)|<url><loc>$base/\1</loc></url>|")
        echo '</urlset>'
    } > "$new/sitemap.xml"
fi
note="<p class=\"lc-version\">Version $version, commit $commit</p>"
find "$new" -name '*.html' -exec sed -i "s|</head>|$card</head>|; s|</footer>|$note</footer>|" {} +

rm -rf "${out:?}/$version"
mv "$new" "$out/$version"
# Newest first, as the last commit of each is not known here: by the time it was published.
versions=$(cd "$out" && ls -td -- */ | sed 's|/$||')
page() {
    echo '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    echo "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"><title>loadcurve</title>$2</head>"
    echo "<body><h1>loadcurve</h1><p>$1</p><ul>"
    for each in $versions; do echo "<li><a href=\"${url:+$url/}$each/index.html\">$each</a></li>"; done
    echo '</ul></body></html>'
}
page "The handbook, by version, the newest first." "<meta http-equiv=\"refresh\" content=\"0; url=$version/index.html\">" > "$out/index.html"
page "There is no such page. The handbook, by version:" "" > "$out/404.html"
[ -z "$url" ] || printf 'Sitemap: %s/%s/sitemap.xml\n' "$url" "$version" > "$out/robots.txt"
echo "The handbook is in $out/$version/index.html"
