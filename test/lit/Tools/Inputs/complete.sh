# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# usage: complete.sh SHARE PROGRAM WORD...
# Prints what bash offers in place of the last WORD: words on one line, or "files"
# where the script leaves it to bash.
share=$1
shift
source "$share/bash-completion/completions/$1"

# Only a shell that a user types into has options of a completion.
compopt() { default=no; }

COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
default=yes
"$(complete -p "$1" | sed 's/.* -F \([^ ]*\) .*/\1/')"
if ((${#COMPREPLY[@]} == 0)) && [[ $default == yes ]]; then
  echo files
else
  echo "${COMPREPLY[*]}"
fi
