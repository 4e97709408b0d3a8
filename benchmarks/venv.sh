# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by the scripts that need packages of PyPI, from the repository's root.

venv=build/venv
python=$venv/bin/python

# use_venv FILE: installs what benchmarks/FILE lists into the environment, unless
# it is there, and checks that MODULE... load.
use_venv() {
  local file=benchmarks/$1 stamp=$venv/tarpon-$1 module
  shift
  # The stamp holds what was installed.
  if ! cat benchmarks/requirements.txt "$file" | cmp -s - "$stamp"; then
    echo "installing ${*} from PyPI into $venv"
    # An older environment may hold a Python without pip.
    [[ -x $venv/bin/pip ]] || python3 -m venv $venv ||
      fail "python3 cannot make a virtual environment (on Debian: apt-get install python3-venv)"
    $python -m pip install --quiet --disable-pip-version-check -r "$file" ||
      fail "what $file lists cannot be had from PyPI, so there is nothing to compare with"
    cat benchmarks/requirements.txt "$file" >"$stamp"
  fi
  for module in "$@"; do
    $python -c "import $module" ||
      fail "$module is in $venv but does not load, so there is nothing to compare with"
  done
}
