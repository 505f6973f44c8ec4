#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# man7.sh TEMPLATE VERSION DATE OUT: makes a page of section 7. It must run in the root of the tree. The template has no
# code. The code is in examples/, where it is compiled or run. Special lines of the template:
#
#   @FILE path@            the file, without the line that names its licence
#   @FUNCTION path name@   one function of a C file
#   @CURATOR@              each call of Curator and what takes its place, from the public headers
set -eu

awk -v version="$2" -v date="$3" '
function fail(what) {
    print what >"/dev/stderr"
    failed = 1
    exit 1
}

# Escapes one line of code, so that it is displayed as it is.
function code(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    gsub(/\047/, "\\(aq", line)
    gsub(/`/, "\\(ga", line)
    gsub(/\^/, "\\(ha", line)
    gsub(/~/, "\\(ti", line)
    if (line ~ /^\./)
        line = "\\\\&" line
    print line
}

function begin_code() {
    if (before !~ /^\.S[HS]/)
        print ".PP"
    print ".RS 4\n.nf"
}

function file(path,    line, n) {
    begin_code()
    while ((getline line <path) > 0) {
        if (++n > 1 || line !~ /SPDX/)
            code(line)
    }
    close(path)
    if (n == 0)
        fail(path ": not there")
    print ".fi\n.RE"
}

function one_function(path, name,    line, inside, n) {
    begin_code()
    while ((getline line <path) > 0) {
        if (line ~ "^[a-z].*[ *]" name "[(]" && line !~ /;$/)
            inside = 1
        if (inside) {
            code(line)
            n++
        }
        if (line ~ /^}/)
            inside = 0
    }
    close(path)
    if (n == 0)
        fail(path ": no function " name)
    print ".fi\n.RE"
}

# A line of text has at most 80 bytes.
function prose(line,    cut) {
    while (length(line) > 80 && line !~ /^[.]/) {
        cut = 80
        while (cut > 1 && substr(line, cut, 1) != " ")
            cut--
        if (cut == 1)
            break
        print substr(line, 1, cut - 1)
        line = substr(line, cut + 1)
    }
    print line
}

# Prints the part "Curator:" of the comment above each function.
function curator(    path, line, doc, name, list) {
    list = "ls include/zkr/*.h"
    while ((list | getline path) > 0) {
        while ((getline line <path) > 0) {
            if (line ~ /^\/\*\*/)
                doc = ""
            doc = doc line " "
            if (line !~ /^ZKR_API/)
                continue
            name = line
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (name !~ /^zkr_/) { # the name is on the next line
                getline line <path
                name = line
                sub(/\(.*/, "", name)
                sub(/.*[ *]/, "", name)
            }
            if (doc !~ /Curator:/)
                fail(path ": " name ": no part Curator")
            sub(/.*Curator: */, "", doc)
            sub(/ *Since:.*/, "", doc)
            sub(/ *\*\/.*/, "", doc)
            gsub(/ +\* +/, " ", doc)
            sub(/[ .]*$/, "", doc)
            if (doc !~ /^none/) {
                print ".TP"
                prose(doc)
                print ".BR " name " (3)"
            }
            doc = ""
        }
        close(path)
    }
    close(list)
}

/^@FILE .*@$/ { file(substr($2, 1, length($2) - 1)); next }
/^@FUNCTION .*@$/ { one_function($2, substr($3, 1, length($3) - 1)); next }
/^@CURATOR@$/ { curator(); next }
{
    gsub(/@VERSION@/, version)
    gsub(/@DATE@/, date)
    prose($0)
    before = $0
}
END { exit failed }
' "$1" >"$4"
