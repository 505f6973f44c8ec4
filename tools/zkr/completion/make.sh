#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# make.sh bash|zsh|fish TABLE TEMPLATE OUT: makes zkr's completion for this shell from TEMPLATE. The rows of TABLE, in
# the language of the shell, replace the line @TABLE@ of the template.
set -eu

awk -F ' *[|] *' -v shell="$1" '
function fail(what) {
    print FILENAME ":" FNR ": " what >"/dev/stderr"
    failed = 1
    exit 1
}

# The table has no quotation marks and no backslashes, so quoting is the same in all shells.
function quoted(text) {
    return "\047" text "\047"
}

function list(names,    n, each, i, text) {
    n = split(names, each, " ")
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? " " : "") quoted(each[i])
    return text
}

# --- zsh: arguments of _arguments and _describe ---

function escaped(text) {
    gsub(/:/, "\\:", text)
    return text
}

function in_brackets(text) {
    gsub(/[][]/, "\\\\&", text)
    return text
}

function zsh_option(names, repeated, has_value, value, choices, text,    n, each, i, spec, what) {
    if (has_value) {
        what = choices == "<file>" ? "_files" : choices == "" ? " " : "(" choices ")"
        what = ":" escaped(value) ":" what
    }
    n = split(names, each, " ")
    for (i = 1; i <= n; i++) {
        spec = spec " \047" (repeated ? "*" : "(" names ")") each[i]
        spec = spec (has_value ? (each[i] ~ /^--/ ? "=" : "+") : "") "[" in_brackets(text) "]" what "\047"
    }
    return spec
}

# --- fish ---

function fish_option(verbs, names, has_value, choices, text,    n, each, i, line) {
    line = "complete -c zkr -n " quoted("__zkr_at " (verbs == "all" ? "\"\" $__zkr_verbs" : verbs))
    n = split(names, each, " ")
    for (i = 1; i <= n; i++)
        line = line (each[i] ~ /^--/ ? " -l " substr(each[i], 3) : " -s " substr(each[i], 2))
    if (has_value)
        line = line (choices == "<file>" ? " -rF" : choices == "" ? " -x" : " -x -a " quoted(choices))
    return line " -d " quoted(text)
}

# --- the table ---

function verb(name, operands, text) {
    verbs = verbs (verbs == "" ? "" : " ") name
    if (operands ~ /COMMAND/)
        runs = runs (runs == "" ? "" : " ") name
    described = described " " quoted(escaped(name) ":" escaped(text))
    fish = fish "complete -c zkr -n \047__zkr_at \"\"\047 -a " name " -d " quoted(text) "\n"
}

function option(of, names, value, text,    repeated, choices, has_value, n, each, i, zsh) {
    repeated = sub(/[.][.][.]$/, "", names)
    has_value = value != ""
    if ((i = index(value, ": ")) > 0) {
        choices = substr(value, i + 2)
        value = substr(value, 1, i - 1)
    }
    n = split(of, each, " ")
    zsh = zsh_option(names, repeated, has_value, value, choices, text)
    for (i = 1; i <= n; i++) {
        words[each[i]] = words[each[i]] " " names
        specs[each[i]] = specs[each[i]] zsh
    }
    n = split(names, each, " ")
    for (i = 1; i <= n; i++) {
        if (each[i] in takes && takes[each[i]] != has_value)
            fail(each[i] " has a value for some verbs only")
        if (has_value && !(each[i] in takes)) {
            valued = valued (valued == "" ? "" : " ") each[i]
            chosen = chosen " [" each[i] "]=" quoted(choices)
        }
        takes[each[i]] = has_value
    }
    fish = fish fish_option(of, names, has_value, choices, text) "\n"
}

function table(    n, each, i) {
    n = split("all " verbs, each, " ")
    if (shell == "bash") {
        print "declare -g _zkr_verbs=" quoted(verbs) " _zkr_runs=" quoted(" " runs " ")
        print "declare -gA _zkr_values=(" substr(chosen, 2) ")"
        print "declare -gA _zkr_options=("
        for (i = 1; i <= n; i++)
            print "    [" each[i] "]=" quoted(substr(words[each[i]], 2))
        print ")"
    } else if (shell == "zsh") {
        print "local -a zkr_verbs=(" substr(described, 2) ") zkr_runs=(" list(runs) ")"
        for (i = 1; i <= n; i++)
            print "local -a zkr_" each[i] "=(" substr(specs[each[i]], 2) ")"
    } else {
        print "set -g __zkr_verbs " verbs
        print "set -g __zkr_runs " runs
        print "set -g __zkr_values " valued
        printf "%s", fish
    }
}

FNR == 1 { file++ }
file == 2 && $0 == "@TABLE@" { table(); next }
file == 2 { print; next }
/^(#|$)/ { next }
/[\\\047]/ { fail("no quotation mark and no backslash, please") }
NF == 3 { verb($1, $2, $3); next }
NF == 4 { option($1, $2, $3, $4); next }
{ fail("no row") }
END { exit failed }
' "$2" "$3" >"$4" || {
    rm "$4"
    exit 1
}
