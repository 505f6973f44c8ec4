#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# rules.sh ROOT PROMTOOL: the alerts of tools/monitoring/ do what the cases of rules.test.yml say, and each alert has a
# case for firing and a case for silence.
set -eu
root=$1 promtool=$2
rules=$root/tools/monitoring/zkrecipes.rules.yml
cases=$root/test/monitoring/rules.test.yml

"$promtool" check rules "$rules"
"$promtool" test rules "$cases"
sed -n 's/^ *- alert: Zkr//p' "$rules" | while read -r alert; do
    # "HoldLost" is "hold lost" in the names of cases.
    words=$(echo "$alert" | sed 's/\([A-Z]\)/ \1/g; s/^ //' | tr '[:upper:]' '[:lower:]')
    for does in fires silent; do
        grep -q "^  - name: \"$words: $does " "$cases" || { echo "no case: $words: $does"; exit 1; }
    done
done
