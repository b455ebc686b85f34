#!/usr/bin/env bash
# Installs what the tests need where it is missing, and runs them all: bash tests/run.sh [--long]
# --long adds the tests that take minutes. What cannot be installed is said aloud; its tests are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=()
case "${1-}" in
    '') ;;
    # All but those that write the test data anew.
    --long) tests=(-- --include-ignored --skip write_the_database_of_format) ;;
    *)
        echo "usage: bash tests/run.sh [--long]" >&2
        exit 2
        ;;
esac

say() { printf '== %s\n' "$*"; }
has() { command -v "$1" >/dev/null 2>&1; }

# Debian packages; fails where that is not possible.
updated=
install() {
    local as_root=()
    has apt-get || return 1
    if [ "$(id -u)" != 0 ]; then
        { has sudo && sudo -n true 2>/dev/null; } || return 1
        as_root=(sudo -n)
    fi
    say "installing $*"
    if [ -z "$updated" ]; then
        "${as_root[@]}" apt-get update -qq </dev/null || return 1
        updated=1
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

# Python packages in a virtual environment of this folder, so that the machine stays as it is.
python_packages() {
    has python3 || return 1
    say "installing $* into .venv"
    if ! .venv/bin/pip --version >/dev/null 2>&1; then
        rm -rf .venv
        python3 -m venv .venv >/dev/null 2>&1 || { install python3-venv && python3 -m venv .venv; } || return 1
    fi
    .venv/bin/pip install --quiet --disable-pip-version-check "$@" </dev/null
}

if ! has cargo && [ -f "$HOME/.cargo/env" ]; then
    # shellcheck disable=SC1091
    . "$HOME/.cargo/env"
fi
if ! has cargo; then
    echo 'error: cargo is missing: install Rust (https://rustup.rs)' >&2
    exit 1
fi
skipped=()
if ! has cc && ! install gcc libc6-dev; then
    echo 'error: a C compiler is missing: install one (Debian: apt-get install gcc libc6-dev)' >&2
    exit 1
fi
if ! has curl && ! install curl; then
    skipped+=('curl is missing: its tests are skipped')
fi
PATH="$PWD/.venv/bin:$PATH"
if ! http --version >/dev/null 2>&1 && ! python_packages httpie && ! install httpie; then
    skipped+=('HTTPie is missing: its tests are skipped')
fi
# What scores are compared with.
if ! python3 -c 'import networkx, numpy, scipy' >/dev/null 2>&1 && ! python_packages networkx numpy scipy; then
    skipped+=('networkx is missing: no scores are compared with it')
fi
for program in java mvn; do
    if [ ${#tests[@]} -gt 0 ] && ! has "$program"; then
        skipped+=("$program is missing: the tests against Hadoop are skipped")
    fi
done
if [ ! -e ../shared/data/debdocs.tsv.zst ]; then
    say 'the whole link graph is not here: the tests use tests/data'
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT
status=0
cargo test --locked --no-fail-fast "${tests[@]}" </dev/null 2>&1 | tee "$results" || status=$?
if [ ${#tests[@]} -gt 0 ]; then
    # A package of its own: webgraph brings ninety dependencies.
    cargo test --manifest-path benches/webgraph/Cargo.toml </dev/null 2>&1 | tee -a "$results" || status=$?
fi

echo
say 'closing lines'
grep -E '^ *(Running|Doc-tests) |^test result: ' "$results" || true
awk '/^test result: /{ passed += $4; failed += $6; ignored += $8 }
     END { printf "== %d passed, %d failed, %d ignored\n", passed, failed, ignored }' "$results"
for line in "${skipped[@]}"; do
    say "$line"
done
exit "$status"
