# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by the benchmarks that need ONNX Runtime, from the repository's root:
# installs it from PyPI into .venv unless it is there.

# .venv is complete when the stamp holds today's requirements.
stamp=.venv/tarpon-requirements.txt
if ! cmp -s benchmarks/requirements.txt "$stamp"; then
  echo "installing ONNX Runtime from PyPI into .venv"
  # An older .venv may hold a Python without pip.
  [[ -x .venv/bin/pip ]] || python3 -m venv .venv ||
    fail "python3 cannot make a virtual environment (on Debian: apt-get install python3-venv)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    -r benchmarks/requirements.txt ||
    fail "ONNX Runtime cannot be had from PyPI, so there is nothing to compare with"
  cp benchmarks/requirements.txt "$stamp"
fi
.venv/bin/python -c 'import onnxruntime' ||
  fail "ONNX Runtime is in .venv but does not load, so there is nothing to compare with"
