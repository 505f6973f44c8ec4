#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# selftest.sh layers|docs|words|english|pointers, or: selftest.sh symbols|circles NM CC. Runs a check on a small good
# tree, which must pass, then once on each bad variant of it, which must fail.
set -eu
check=$1
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

spdx='/* SPDX-License-Identifier: Apache-2.0 */'
tree=$tmp/good
: >"$tmp/cases" # one line per case, in files, because good and bad run in subshells of pipes
: >"$tmp/failures"

put() { # FILE: writes standard input to the file, in the current tree
    mkdir -p "$tree/$(dirname "$1")"
    cat >"$tree/$1"
}

run_check() {
    case $check in
    symbols)
        "$cc" -shared -fPIC -I "$tree/include" -o "$tree/lib.so" "$tree/lib/code.c"
        sh "$here/check_symbols.sh" "$tree" "$tree/lib.so" "$nm"
        ;;
    circles)
        for file in a b c; do
            "$cc" -c -o "$tree/$file.o" "$tree/$file.c"
        done
        sh "$here/check_circles.sh" "$nm" "$tree"
        ;;
    *) sh "$here/check_$check.sh" "$tree" ;;
    esac
}

good() {
    echo case >>"$tmp/cases"
    if ! run_check >"$tmp/out" 2>&1; then
        echo "$check: the good tree was refused:"
        cat "$tmp/out"
        exit 1
    fi
}

bad() { # FILE WORDS: checks that, with standard input as this file, the check prints WORDS
    rm -rf "$tmp/bad"
    cp -R "$tmp/good" "$tmp/bad"
    tree=$tmp/bad
    put "$1"
    echo case >>"$tmp/cases"
    if run_check >"$tmp/out" 2>&1; then
        echo "$check: not noticed in $1: $2" | tee -a "$tmp/failures"
    elif ! grep -q -e "$2" "$tmp/out"; then
        echo "$check: noticed in $1, but not as: $2" | tee -a "$tmp/failures"
        cat "$tmp/out"
    fi
    tree=$tmp/good
}

bad_include() { # FILE INCLUDE WORDS
    printf '%s\n#include %s\n' "$spdx" "$2" | bad "$1" "$3"
}

layers() {
    printf '#include <uthash.h>\n' | put lib/base/table.h
    printf '#include <zkr/error.h>\n#include "base/table.h"\n' | put lib/base/path.c
    printf '#include <zkr/guard.h>\n#include <zookeeper/zookeeper.h>\n' |
        put lib/session/zk_value.c
    printf '#include "base/path.h"\n#include "session/zk.h"\n' | put lib/queue/queue.c
    printf '#include <zkr/guard.h>\n#include "queue/queue.h"\n#include "session/client.h"\n' |
        put lib/recipes/mutex.c
    printf '#include "recipes/reentrant.h"\n#include "recipes/ticket.h"\n' | put lib/recipes/mutex.h
    printf '#include <zkr/mutex.h>\n#include <zookeeper/zookeeper.h>\n' | put include/zkr/guard.h
    printf '#include <zkr/client.h>\n' | put include/zkr/leader_latch.h
    printf '#include "recipes/leader_latch_state.h"\n' | put lib/recipes/leader_latch.c
    printf '#include "recipes/leader_latch_state.h"\n' | put lib/recipes/leader_latch_query.c
    printf '#include <zkr/testing.h>\n#include <zkr/mutex.h>\n#include "testing/net.h"\n' | put lib/testing/proxy.c
    printf '#include <zkr/zkr.h>\n#include "cmd.h"\n' | put tools/zkr/main.c
    printf '#include <zookeeper/zookeeper.h>\n#include "end.h"\n#include "guardian/wire.h"\n' |
        put lib/guardian/program/main.c
    good
    bad_include lib/base/path.c '"session/zk.h"' 'session is above base'
    bad_include lib/base/path.c ' "queue/rule.h"' 'queue is above base'
    bad_include lib/session/zk.c '"queue/rule.h"' 'queue is above session'
    bad_include lib/queue/rule.c '"recipes/mutex.h"' 'recipes is above queue'
    bad_include lib/base/path.c '<zkr/mutex.h>' 'base sees only'
    bad_include lib/session/zk.h '<zkr/mutex.h>' 'no header of a recipe'
    bad_include lib/queue/rule.h '<zkr/leader_latch.h>' 'no header of a recipe'
    bad_include lib/queue/rule.h '<zookeeper/zookeeper.h>' 'only lib/session/zk_'
    bad_include lib/session/zk.h '<zookeeper/zookeeper.h>' 'only lib/session/zk_'
    bad_include lib/queue/rule.c '<uthash.h>' 'wrapped by'
    bad_include lib/queue/rule.c '"zkr/error.h"' 'in angle brackets'
    bad_include lib/session/client.c '<zkr/guard.h>' 'no header of a recipe'
    bad_include lib/recipes/mutex.c '"session/request.h"' 'of session, recipes see only'
    bad_include lib/recipes/mutex.c '"recipes/rwlock.h"' 'another one'
    bad_include lib/recipes/leader_selector.c '"recipes/leader_latch_state.h"' 'another one'
    bad_include lib/recipes/ticket.c '"recipes/mutex.h"' 'another one'
    bad_include lib/queue/rule.c '"rule.h"' 'floor/file.h'
    bad_include lib/queue/rule.c '"../base/path.h"' 'no relative'
    bad_include lib/queue/rule.c '<base/path.h>' 'in quotes'
    bad_include lib/testing/net.c '"base/path.h"' 'testing stands alone'
    bad_include lib/recipes/mutex.c '"testing/net.h"' 'testing stands alone'
    bad_include lib/recipes/mutex.c '<zkr/testing.h>' 'testing stands alone'
    bad_include lib/testing/net.c '<zookeeper/zookeeper.h>' 'only lib/session/zk_'
    bad_include lib/guardian/program/main.c '"base/path.h"' 'sees only guardian/wire.h'
    bad_include lib/guardian/program/main.c '<zkr/client.h>' 'sees only guardian/wire.h'
    bad_include lib/other/file.c '<stdio.h>' 'on no floor'
    bad_include include/zkr/mutex.h '<zookeeper/zookeeper.h>' 'only zkr/guard.h'
    bad_include include/zkr/mutex.h '"zkr/client.h"' 'public headers include'
    bad_include tools/zkr/main.c '"base/path.h"' 'internals are for'
    bad_include examples/mutex.c '<queue/queue.h>' 'internals are for'
    bad_include bench/cycle.c '"../lib/base/clock.h"' 'no relative'
}

contract() { # WITHOUT: prints the template without one of its parts
    printf '%s\n/**\n * Do.\n *\n * Returns ZKR_OK.\n * Blocks: no.\n' "$spdx" | grep -v -e "$1"
    printf ' * Threads: any.\n * Cost: none.\n * Curator: none.\n */\n' | grep -v -e "$1"
    printf 'ZKR_API int zkr_do(int x,\n    int y);\n'
}

docs() {
    contract 'not there' | put include/zkr/a.h
    good
    for part in Returns Blocks: Threads: Cost: Curator:; do
        contract "$part" | bad include/zkr/a.h 'its comment'
    done
    printf '%s\nZKR_API int zkr_do(int x);\n' "$spdx" | bad include/zkr/a.h 'right above'
    { contract 'not there'; printf 'ZKR_API int zkr_more(int x);\n'; } |
        bad include/zkr/a.h 'zkr_more: no'
    { contract 'not there'; printf 'int zkr_more(int x);\n'; } |
        bad include/zkr/a.h 'not marked'
}

english() {
    printf '/* Shows who holds a lock and who waits for it. */\n' | put tools/zkr/a.c
    printf '/* Who waits is told. */\n' | put test/unit/a.c
    good
    printf '/* The node goes. Who waits for it gets the lock. */\n' | bad lib/queue/a.c 'Who'
    printf '/*\n * Whoever locks again needs no list.\n */\n' | bad lib/queue/a.c 'Whoever'
    printf '# What is no file is refused.\n' | bad tools/a.sh 'What is'
    printf 'Those of the servers do.\n' | bad tools/zkr/a.1 'Those'
    printf 'A lock ends. So does its session.\n' | bad README.md 'So does'
    printf 'The holder is told.\n' | bad docs/a.md 'is told'
    printf '/* Made by hand. */\n' | bad include/zkr/a.h 'by hand'
}

words() {
    printf '%s\nint x;\n' "$spdx" | put lib/base/a.c
    printf '#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n' | put test/a.sh
    good
    printf 'int x;\n' | bad lib/base/a.c 'no line SPDX'
    printf 'project(x)\n' | bad CMakeLists.txt 'no line SPDX'
    printf 'no source\n' | bad test/fuzz/some.seeds 'no line SPDX'
    printf '%s\nint x;' "$spdx" | bad lib/base/a.c 'no newline'
    printf '%s\nint x; \n' "$spdx" | bad lib/base/a.c ':2: white space'
}

# shellcheck disable=SC2016 # the backquotes are of Markdown
pointers() {
    printf '%s\n/* See queue/rule.h, test_*.c and the zookeeper.c of others. */\nchar *it = "gone.h";\n' "$spdx" |
        put lib/queue/rule.c
    printf '%s\nint x; // rule.c\n' "$spdx" | put lib/queue/rule.h
    printf '%s\nint y;\n' "$spdx" | put test/unit/test_rule.c
    printf '`lib/queue/NAME.h`, [rules](lib/queue/rule.h): `unit.rule`, `made.up`.\n' | put README.md
    printf 'add(other.c)\n%s As in rule.c.\n' '#' | put CMakeLists.txt
    good
    printf '/* As in gone.h. */\n' | bad lib/queue/rule.c ':1: gone.h is no file'
    printf 'char quote = %s; /*\n in queue/gone.c, that is.\n*/\n' "'\"'" | bad lib/queue/rule.h ':2: queue/gone.c is no file'
    printf '`unit/rule.h`\n' | bad README.md ':1: unit/rule.h is no file'
    printf '`NAME.sh`\n' | bad README.md 'NAME.sh is no file'
    printf '`unit.gone`\n' | bad README.md ':1: unit.gone is no test'
    printf '.B gone.c\n' | bad zkr.1 ':1: gone.c is no file'
    printf 'Floors are lib/engine and lib/gone.\n' | bad README.md ':1: lib/gone is not in this tree'
    printf 'changed "lib/*.c" "lib/gone_*"\n' | bad tools/other.sh ':1: lib/gone_\* is not in this tree'
    for script in CMakeLists.txt run tools/other.sh; do
        printf 'add(one.c) %s of two.c\n' '#' | bad "$script" ':1: two.c is no file'
    done
}

symbols() {
    api='#define ZKR_API __attribute__((visibility("default")))'
    printf '%s\n/* ZKR_API int zkr_not(int x); */\nZKR_API int zkr_do(int x,\n    int y);\nZKR_API const char *zkr_text(void);\n' \
        "$api" | put include/zkr/a.h
    do='int zkr_do(int x, int y) { return x + y; }' text='const char *zkr_text(void) { return ""; }'
    printf '#include <zkr/a.h>\n%s\n%s\n' "$do" "$text" | put lib/code.c
    good
    printf '#include <zkr/a.h>\n%s\n' "$do" | bad lib/code.c 'zkr_text: marked'
    printf '#include <zkr/a.h>\n%s\n%s\nint zkr_x;\n' "$do" "$text" | bad lib/code.c 'zkr_x: exported'
    printf '#include <zkr/a.h>\n%s\n%s\nint stray;\n' "$do" "$text" | bad lib/code.c 'stray: does not start'
    printf '#include <zkr/a.h>\n%s\n%s\nint zkr_lock_init;\n' "$do" "$text" | bad lib/code.c 'a name of the C recipes'
}

circles() {
    printf 'int b(void);\nint a(void) { return b(); }\n' | put a.c
    printf 'int c(void);\nint b(void) { return c(); }\n' | put b.c
    printf 'int x;\nint c(void) { return x; }\n' | put c.c
    good
    printf 'int a(void);\nint b(void) { return a(); }\n' | bad b.c 'loop'
    printf 'int a(void);\nint c(void) { return a(); }\n' | bad c.c 'loop'
    printf 'extern int a(void);\nint (*x)(void) = a;\nint c(void) { return x(); }\n' | bad c.c 'loop'
}

if [ $# -eq 3 ]; then
    nm=$2 cc=$3
fi
"$check"
echo "$check: $(wc -l <"$tmp/cases") cases"
[ ! -s "$tmp/failures" ]
