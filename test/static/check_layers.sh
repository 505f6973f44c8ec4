#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_layers.sh ROOT: checks which files may include which. Floors, bottom to top: base; guardian, nearby and session;
# queue, look, recipes. lib/testing is beside them: it uses the library as an application would, and no file in lib/
# uses it. Prints a line for each include that breaks a rule.
set -eu
cd "$1"

dirs=
for dir in include lib tools examples bench; do
    [ -d "$dir" ] && dirs="$dirs $dir"
done

# shellcheck disable=SC2086,SC2016 # a list of plain words; the dollars are for awk
find $dirs -type f \( -name '*.[ch]' -o -name '*.cpp' \) | LC_ALL=C sort | tr '\n' '\0' | xargs -0 awk '
function bad(why) {
    printf "%s:%d: %s %s: %s\n", FILENAME, FNR, "include of", shown, why
    failed = 1
}

# Returns the recipe of a file: mutex.c and mutex_robust.c belong to mutex, which has a public header.
function recipe(path,    name, line) {
    sub(/.*\//, "", path)
    sub(/\.[ch]$/, "", path)
    for (name = path; ; sub(/_[^_]*$/, "", name)) {
        if ((getline line < ("include/zkr/" name ".h")) >= 0) {
            close("include/zkr/" name ".h")
            return name
        }
        if (name !~ /_/)
            break
    }
    return path
}

# Public headers, <zkr/...>: lower floors must not include those of the recipes.
function check_public(floor, name) {
    if (name ~ /^zkr\/test[a-z_]*\.h$/ && floor != "testing")
        bad("testing stands alone")
    else if (floor == "base" && name !~ /^zkr\/(error|version|export)\.h$/)
        bad("base sees only zkr/error.h, version.h and export.h")
    else if (name == "zkr/guard.h" && FILENAME == "lib/session/zk_value.c")
        return
    else if ((floor == "session" || floor == "guardian" || floor == "nearby") && name !~ /^zkr\/(error|version|export|client|client_options|dispatch|guardian|lease|loss|metrics|node)\.h$/)
        bad(floor " sees no header of a recipe")
    else if ((floor == "queue" || floor == "look") && name ~ /^zkr\/(mutex|rwlock|semaphore|multilock|lockable|leader_[a-z]+|guard|ticket|zkr)\.h$/)
        bad(floor " sees no header of a recipe")
}

function check_lib_angle(floor, name) {
    if (name ~ /^zkr\//)
        check_public(floor, name)
    else if (name ~ /zookeeper/) {
        if (FILENAME !~ /^lib\/session\/zk_[a-z]+\.c$/)
            bad("only lib/session/zk_*.c talk to ZooKeeper")
    } else if (name ~ /^ut[a-z]+\.h$/) {
        if (FILENAME != "lib/base/table.h")
            bad("uthash is wrapped by lib/base/table.h")
    } else if (name ~ /^(base|guardian|nearby|session|queue|look|recipes|testing)\//)
        bad("internal headers are written in quotes")
}

function check_lib_quoted(floor, name,    target) {
    if (name ~ /^zkr\//) {
        bad("public headers are written in angle brackets")
        return
    }
    target = name
    if (!sub(/\/.*/, "", target) || !(target in level)) {
        bad("write \"floor/file.h\"")
        return
    }
    if (floor == "testing" || target == "testing") {
        if (floor != target)
            bad("testing stands alone")
    } else if (level[target] > level[floor])
        bad(target " is above " floor)
    else if (floor == "recipes" && target == "session" && name !~ /^session\/(bound|client|inquiry|log|zk_multi|zk_value)\.h$/)
        bad("of session, recipes see only bound, client, inquiry, log, zk_multi and zk_value")
    else if (floor == "recipes" && target == "recipes" && !(recipe(name) in shared) &&
             recipe(FILENAME) != recipe(name) && made_of[recipe(FILENAME)] != recipe(name))
        bad("a recipe does not see another one")
}

function check(kind, name,    floor) {
    if (name ~ /(^|\/)\.\.?\//) {
        bad("no relative paths")
    } else if (FILENAME ~ /^lib\/guardian\/program\//) {
        if (name ~ /^zkr\// || (name ~ /\// && kind == "\"" && name != "guardian/wire.h"))
            bad("of the library, the guardian sees only guardian/wire.h")
    } else if (FILENAME ~ /^lib\//) {
        floor = FILENAME
        sub(/^lib\//, "", floor)
        sub(/\/.*/, "", floor)
        if (!(floor in level))
            bad("the file is on no floor")
        else if (kind == "<")
            check_lib_angle(floor, name)
        else
            check_lib_quoted(floor, name)
    } else if (name ~ /^(base|guardian|nearby|session|queue|look|recipes|testing)\//) {
        bad("internals are for lib/ and test/")
    } else if (FILENAME ~ /^include\//) {
        if (kind == "\"")
            bad("public headers include <zkr/...> and the system only")
        else if (name ~ /zookeeper/ && FILENAME != "include/zkr/guard.h")
            bad("only zkr/guard.h needs the header of ZooKeeper")
        else if (name ~ /^ut[a-z]+\.h$/)
            bad("uthash is wrapped by lib/base/table.h")
    }
}

BEGIN {
    # Parts of recipes. They must not include recipes.
    shared["recipe"]; shared["reentrant"]; shared["ticket"]
    made_of["rwlock"] = "mutex" # its two sides are mutexes
    level["base"] = 1; level["session"] = level["guardian"] = level["nearby"] = 2; level["queue"] = 3; level["look"] = 4; level["recipes"] = 5
    level["testing"] = 6
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    line = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
    kind = substr(line, 1, 1)
    line = substr(line, 2)
    sub(/[>"].*/, "", line)
    shown = (kind == "<") ? "<" line ">" : "\"" line "\""
    check(kind, line)
}

END { exit failed }
'
