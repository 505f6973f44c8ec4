# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced, after tools/packages.sh, by scripts that make a bare root: a system of the packages
# of a distribution and nothing else.

# What apt on this machine uses for the distribution's archive of SUITE, or for that of its own release if that is
# another one of Debian: "URI COMPONENT" a line.
archive() { # SUITE
    local own lines
    # shellcheck disable=SC1091 # of the system
    own=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || own=$1
    lines=$(archive_here "$1")
    [ -n "$lines" ] || lines=$(archive_here "$own${1#"${1%%-*}"}")
    [ -z "$lines" ] || printf '%s\n' "$lines"
}

archive_here() { # SUITE
    # shellcheck disable=SC2016 # for apt to fill in
    { apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(COMPONENT)' \
        'Created-By: Packages' "Codename: $1" 2>/dev/null || true; } |
        sed -n -E 's/^(Debian|Ubuntu) ((https?|file):.* (main|universe))$/\2/p' | sort -u
}

# bare_root DIR SUITE LOG [PACKAGE,...]: makes DIR a root with these packages besides the
# essential ones, from the archive that apt uses; the end, if it cannot.
bare_root() {
    local dir=$1 suite=$2 log=$3 packages=${4:-} uri='' components=main proxy='' script='' said
    if ! installed debootstrap; then
        say '==> installing debootstrap'
        said=$(need debootstrap 2>&1) ||
            die 69 "debootstrap cannot be installed: $(printf '%s\n' "$said" | tail -n 1)"
    fi
    if [ -n "$(archive "$suite")" ]; then
        uri=$(archive "$suite" | sed -n '1s/ .*//p')
        components=$(archive "$suite" | grep -F "$uri " | cut -d ' ' -f 2 | paste -sd ,)
    fi
    # A release that is younger than this debootstrap is made like unstable.
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=sid
    eval "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)"

    as_root env ${proxy:+"http_proxy=$proxy"} ${proxy:+"https_proxy=$proxy"} \
        debootstrap --variant=minbase "--components=$components" \
        ${packages:+"--include=$packages"} "$suite" "$dir" "$uri" ${script:+"$script"} >"$log" 2>&1 ||
        die 69 "debootstrap could not make a root of $suite: $(tail -n 1 "$log")"
}

# remove_root DIR: also one that was not finished.
remove_root() {
    as_root umount -q "$1/proc" "$1/sys" 2>/dev/null || true
    as_root rm -rf --one-file-system "$1"
}
