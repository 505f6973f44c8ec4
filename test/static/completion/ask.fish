# SPDX-License-Identifier: Apache-2.0
#
# ask.fish FOLDER: like ask.bash, with fish.
source $argv[1]/zkr.fish; or exit 1
while read -l line
    complete -C $line | string replace -r '\t.*' '' | sort -u | paste -sd ' ' -
end
