#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# rules.sh ROOT PROMTOOL: checks that the alerts of tools/monitoring/ behave as the cases of rules.test.yml say, and
# that each alert has a case in which it fires and one in which it is silent.
set -eu
root=$1 promtool=$2
rules=$root/tools/monitoring/zkrecipes.rules.yml
cases=$root/test/monitoring/rules.test.yml

"$promtool" check rules "$rules"
"$promtool" test rules "$cases"
sed -n 's/^ *- alert: Zkr//p' "$rules" | while read -r alert; do
    # The names of cases have "hold lost" for "HoldLost".
    words=$(echo "$alert" | sed 's/\([A-Z]\)/ \1/g; s/^ //' | tr '[:upper:]' '[:lower:]')
    for does in fires silent; do
        grep -q "^  - name: \"$words: $does " "$cases" || { echo "no case: $words: $does"; exit 1; }
    done
done
