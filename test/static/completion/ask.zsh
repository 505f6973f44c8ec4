# SPDX-License-Identifier: Apache-2.0
#
# ask.zsh FOLDER: like ask.bash, with zsh. Completion needs the line editor, which needs a terminal, so one shell drives
# another.
zmodload zsh/zpty
asked=$(mktemp -d)
trap 'rm -rf "$asked"' EXIT
cat >$asked/lines

# Offered words go to $offered, unless a function only tests whether there would be any.
cat >$asked/.zshrc <<'ZSHRC'
PS1= asked=$ZDOTDIR
unsetopt beep
fpath=($FOLDER $fpath)
autoload -Uz compinit
compinit -u -D
zstyle ':completion:*' list-grouped no
compadd() {
    local -a found
    if (( ! ${@[(I)-[OAD]*]} )); then
        builtin compadd -O found "$@"
        offered+=($found)
    fi
    builtin compadd "$@"
}
zle -C offer list-choices _main_complete
answer() {
    local line
    for line in ${(f)"$(<$asked/lines)"}; do
        BUFFER=$line CURSOR=$#line offered=()
        zle offer
        print -r -- ${(ou)offered} >>$asked/answers
    done
    BUFFER=
    print -n '<end>'
}
zle -N answer
bindkey '^X' answer
ZSHRC

export FOLDER=$1 ZDOTDIR=$asked TERM=dumb
zpty asked zsh -d -i
zpty -w -n asked $'\x18'
zpty -r asked said '*<end>*'
cat $asked/answers
