#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# readme.sh --here: installs the library on this system with the commands of README.md, word for word. It compiles and
# runs the first program, and checks the other promises of README.md. For bare roots like those of ./run fresh install.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
cd "$root"
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/readme.sh
. tools/readme.sh
# shellcheck source=tools/server.sh
. tools/server.sh

progress() {
    say "==> $*"
}
at_end() {
    :
}

if [ "$*" != --here ] || [ "$(id -u)" -ne 0 ]; then
    die 64 'this installs into the system it runs on; see ./run fresh install'
fi
tmp=$(mktemp -d)

# A person would answer yes, and has sudo. In a container, recommended packages are not installed.
printf '%s "%s";\n' APT::Get::Assume-Yes true APT::Install-Recommends false >/etc/apt/apt.conf.d/99here
update_once
need sudo

words() { # COMMANDS: prints the commands, and runs them in a shell
    printf '%s\n' "$1"
    bash -ec "$1" </dev/null
}

progress 'README: Install'
words "$(readme_block Install 1)"

# The last of the commands, ldconfig, is only a habit, because the installation itself updates the linker's cache.
rm /etc/ld.so.cache
cmake --install build >/dev/null
ldconfig -p | grep -q libzkrecipes.so.0 || die 1 'after the installation the linker does not find the library'

progress 'README: A first program'
cd "$tmp"
(cd "$root" && readme_block 'A first program' 1) >first.c
command=$(cd "$root" && readme_block 'A first program' 2)
need zookeeper default-jre-headless man-db
start_server 1000
words "$(with_server "$servers" <<<"$command")" >said
cat said
grep -q '^held by this thread' said || die 1 'the first program does not say that it holds the lock'
[ "$(zkr -z "$servers" lock -w 10 /locks/backup echo it ran)" = 'it ran' ] || die 1 'zkr lock runs nothing'

progress 'the manual'
for page in zkr zkrecipes zkrecipes-guide zkr_mutex zkr_mutex_acquire; do
    man -w "$page"
done
# shellcheck disable=SC1091 # of this library
(. /usr/local/share/bash-completion/completions/zkr && complete -p zkr) || die 1 'no completion for zkr'
[ -s /usr/local/share/zsh/site-functions/_zkr ] || die 1 'no completion for zsh'
[ -s /usr/local/share/fish/vendor_completions.d/zkr.fish ] || die 1 'no completion for fish'
[ -s /usr/local/lib/systemd/system/zkr@.service ] || die 1 'no unit for systemd'
progress 'all as README says'
