# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Scripts that create a bare root source this file after tools/packages.sh. A bare root is a system that has only
# packages of a distribution.

# Prints the archive that apt on this machine uses for SUITE or, if this machine runs another release of Debian, the
# archive of that release. Prints one line "URI COMPONENT" for each component.
archive() { # SUITE
    local own lines
    # shellcheck disable=SC1091 # of the system
    own=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || own=$1
    lines=$(archive_here "$1")
    [ -n "$lines" ] || lines=$(archive_here "$own${1#"${1%%-*}"}")
    [ -z "$lines" ] || printf '%s\n' "$lines"
}

archive_here() { # SUITE
    # shellcheck disable=SC2016 # apt expands these variables
    { apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(COMPONENT)' \
        'Created-By: Packages' "Codename: $1" 2>/dev/null || true; } |
        sed -n -E 's/^(Debian|Ubuntu) ((https?|file):.* (main|universe))$/\2/p' | sort -u
}

# bare_root DIR SUITE LOG [PACKAGE,...]: makes DIR a root with the essential packages and the given ones, from the
# archive that apt uses. Exits if that is not possible.
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
    # If this debootstrap does not know the release, use the script of unstable.
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=sid
    eval "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)"

    as_root env ${proxy:+"http_proxy=$proxy"} ${proxy:+"https_proxy=$proxy"} \
        debootstrap --variant=minbase "--components=$components" \
        ${packages:+"--include=$packages"} "$suite" "$dir" "$uri" ${script:+"$script"} >"$log" 2>&1 ||
        die 69 "debootstrap could not make a root of $suite: $(tail -n 1 "$log")"
}

# remove_root DIR: removes a root, even an incomplete one.
remove_root() {
    as_root umount -q "$1/proc" "$1/sys" 2>/dev/null || true
    as_root rm -rf --one-file-system "$1"
}
