#!/usr/bin/env bash
# One step of the page's tests: packages, template, picture or report. Works on a copy of
# report-ui/ in the build folder. 77: skipped, something is not installed.
set -euo pipefail

skip() {
  echo "html: skipped: $*"
  exit 77
}

command -v node >/dev/null || skip "there is no node"
command -v npm >/dev/null || skip "there is no npm"
node -e 'const [a, b] = process.versions.node.split(".").map(Number);
         process.exit((a === 20 && b >= 19) || (a === 22 && b >= 12) || a > 22 ? 0 : 1)' ||
  skip "node $(node --version) is too old: 20.19, 22.12 or newer is needed"

mkdir -p "$LEAKGATE_UI_BUILD"
case "$1" in
  packages)
    cp "$LEAKGATE_SOURCE_DIR"/report-ui/package{,-lock}.json "$LEAKGATE_UI_BUILD"
    cd "$LEAKGATE_UI_BUILD"
    # What is there already and is of this lock file need not be loaded again.
    if cmp -s package-lock.json node_modules/.leakgate-lock.json; then
      echo "html: the packages are there"
      exit 0
    fi
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.leakgate-lock.json
    ;;
  template)
    cd "$LEAKGATE_UI_BUILD"
    rm -rf src
    cp -r "$LEAKGATE_SOURCE_DIR"/report-ui/{src,page.html,tsconfig.json,vite.config.js} .
    rm -rf built
    LEAKGATE_UI_OUT=built npm run --silent build
    committed=$LEAKGATE_SOURCE_DIR/runner/report/formats/html_template.html
    cmp built/html_template.html "$committed" || {
      echo "html: $committed is not what report-ui/ builds: cd report-ui && npm ci && npm run build" >&2
      exit 1
    }
    size=$(stat -c %s "$committed")
    [ "$size" -lt 400000 ] || {
      echo "html: the template has $size bytes, 400,000 at most are agreed" >&2
      exit 1
    }
    echo "html: the template is up to date, $size bytes"
    ;;
  picture)
    # The command that makes the README's picture still makes one, and the committed one is small.
    chromium=${CHROMIUM:-/usr/bin/chromium}
    [ -x "$chromium" ] || skip "there is no $chromium"
    cd "$LEAKGATE_UI_BUILD"
    cp "$LEAKGATE_SOURCE_DIR"/report-ui/picture.mjs .
    made=$PWD/picture.png
    rm -f "$made"
    CHROMIUM=$chromium LEAKGATE_PICTURE=$made node picture.mjs "$(dirname "$LEAKGATE_FIXTURES")"
    for picture in "$made" "$LEAKGATE_SOURCE_DIR/docs/report.png"; do
      # Width and height are in a PNG's header.
      [ "$(od -An -tx1 -j16 -N8 "$picture" | tr -d ' ')" = 0000050000000320 ] || {
        echo "html: $picture does not have 1280 x 800 pixels" >&2
        exit 1
      }
      size=$(stat -c %s "$picture")
      [ "$size" -lt 150000 ] || {
        echo "html: $picture has $size bytes, 150,000 at most are agreed" >&2
        exit 1
      }
    done
    ;;
  report)
    chromium=${CHROMIUM:-/usr/bin/chromium}
    [ -x "$chromium" ] || skip "there is no $chromium"
    cd "$LEAKGATE_UI_BUILD"
    rm -rf test
    cp -r "$LEAKGATE_SOURCE_DIR"/tests/html_report/page test
    CHROMIUM=$chromium node --test --test-concurrency=1 --test-reporter=spec test/*.test.mjs
    ;;
  *)
    echo "usage: run_ui.sh packages|template|picture|report" >&2
    exit 2
    ;;
esac
