# SPDX-License-Identifier: Apache-2.0
#
# Reads the output of abidiff --leaf-changes-only --harmless and prints the lines about changes that may break a
# program that was compiled before. Fails if there is one. A change counts unless it is known to be harmless.

# The caller says the size of these, or gets a pointer to one that the library has made.
function may_grow(name) {
    return name ~ /^zkr_([a-z_]+_options|stats|error|lost|contender|survey_entry)$/
}

function at_offset(line) {
    sub(/.*, at offset /, "", line)
    return line + 0
}

/^$/ || /^(Leaf changes|Changed leaf types|Removed\/Changed\/Added (functions|variables)) summary: / { next }

/^'(struct|enum) [A-Za-z_]+( at [^ ]*)?' changed:$/ {
    kind = substr($1, 2)
    name = $2
    sub(/'$/, "", name)
    heading = $0
    old_size = -1
    next
}
/^[^ ]/ { kind = "" }

# ZooKeeper defines some types of zkr/guard.h: they are not ours to change.
kind != "" && name !~ /^zkr_/ { next }

kind == "struct" && may_grow(name) {
    if (match($0, /^  type size changed from [0-9]+ to [0-9]+ \(in bits\)$/)) {
        old_size = $5
        if ($7 > old_size)
            next
    }
    if (old_size >= 0 && /^  [0-9]+ data member insertions?:$/)
        next
    if (old_size >= 0 && /^    '.*', at offset [0-9]+ \(in bits\)( at .*)?$/ && at_offset($0) >= old_size)
        next
}

kind == "enum" && (/^  type size hasn't changed$/ || /^  [0-9]+ enumerator insertions?:$/ || /^    '[A-Za-z_:]+' value '-?[0-9]+'$/) {
    next
}

{
    if (heading != "") {
        print heading
        heading = ""
    }
    print
    failed = 1
}
END { exit failed }
