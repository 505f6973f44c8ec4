#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_completion.sh bash|zsh|fish ZKR FOLDER: checks that, with the completion in FOLDER, this shell offers the
# options in the --help of zkr, for each subcommand and for all of them (''), and the words that the cases below expect
# of every shell.
set -euo pipefail
shell=$1 zkr=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=test/static/options.sh
. "$here/options.sh"
failed=0

# Ignore the user's settings.
export HOME=$tmp XDG_CONFIG_HOME=$tmp/config XDG_DATA_HOME=$tmp/data LC_ALL=C
mkdir "$tmp/bin" "$tmp/config" "$tmp/data"
: >"$tmp/bin/zkt-tool"
chmod +x "$tmp/bin/zkt-tool"
: >"$tmp/zkt-file"
cd "$tmp"

ask() { # from lines
    PATH=$tmp/bin:$PATH "$shell" "$here/completion/ask.$shell" "$folder"
}

# zkr once accepts the options of zkr lock for exclusive locks.
expected() { # SUBCOMMAND
    helped ''
    helped "$1"
    [ "$1" != once ] ||
        helped lock | grep -vxE -- '-[xeso]|--(exclusive|shared|close|rw|permits|also|any)'
}

for sub in '' lock once elect status ls wait check revoke; do
    expected "$sub" | LC_ALL=C sort -u >"$tmp/expected"
    echo "zkr ${sub:+$sub }-" | ask | options |
        diff -u --label "zkr $sub --help" --label "$shell: zkr $sub -<TAB>" "$tmp/expected" - || failed=1
done

sed 's/ *#.*//' >"$tmp/cases" <<'CASES'
zkr = check elect lock ls once revoke status wait
zkr l = lock ls
zkr -z localhost:1 o = once
zkr nothing --ev =
zkr ls --rec = --recursive
zkr once -w 5 --ev = --every
zkr lock --min = --min-hold
zkr elect --id lock --com = --command
zkr elect --json ls --js =
zkr lock --acl = creator open
zkr lock --on-revoke t = term
zkr once --kill-signal U = USR1 USR2
zkr lock --stats zkt-f = zkt-file
zkr lock --wait zkt-f =
zkr lock --also /a --al = --also
zkr lock /p zkt-to = zkt-tool
zkr -t 9000 elect -i x /p zkt-to = zkt-tool
zkr lock --any /p /q zkt-to = zkt-tool
zkr lock --any /p /q -- zkt-to = zkt-tool
zkr lock --any /p /q --nonb =
zkr lock /p --c = --command
zkr lock -c true /p --nonb =
zkr lock /p -c zkt-to =
zkr lock /p zkr elect --fail = --failures    # a command is completed as if it stood alone
zkr lock --any /p /q -- zkr elect --fail = --failures
zkr status /p --js =
zkr status /p zkt-to =
zkr ls /p --js =
zkr revoke /p --fo =
CASES

# In a case that ends before the word, a blank stands for the word.
sed -E -e 's/ *=.*//' -e 's/^zkr$|--acl$/& /' "$tmp/cases" | ask >"$tmp/answers"
sed -E 's/.* = ?|.* =$//' "$tmp/cases" >"$tmp/wanted"
sed 's/ *=.*//' "$tmp/cases" >"$tmp/lines"
diff -u --label expected --label "$shell" \
    <(paste -d '=' "$tmp/lines" "$tmp/wanted") <(paste -d '=' "$tmp/lines" "$tmp/answers") || failed=1
exit "$failed"
