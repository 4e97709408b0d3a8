# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by every script here with its arguments: goes to the repository's
# root, detaches stdin, and answers --help with the script's first comment.

set -euo pipefail
exec </dev/null
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  awk 'NR > 1 && /^# SPDX/ { next } NR > 1 && /^#/ { sub(/^# ?/, ""); print; next }
       NR > 1 { exit }' "$script"
  exit 0
fi

say() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}
