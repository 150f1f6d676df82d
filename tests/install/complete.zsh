# complete.zsh LINE: prints what zsh offers when Tab is typed after LINE, from inside of a
# pseudo-terminal, as completion works only there.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=READY; autoload -U compinit; compinit -u -D; zstyle ":completion:*" list-prompt ""; LISTMAX=0; setopt auto_list; unsetopt beep'
zpty -w shell 'bindkey "^I" complete-word'
sleep 2
zpty -r -t shell discarded 2>/dev/null
zpty -w -n shell "$1"$'\t'
sleep 3
while zpty -r -t shell text; do print -rn -- "$text"; done
zpty -d shell
