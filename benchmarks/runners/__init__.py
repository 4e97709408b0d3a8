# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One module for each program that benchmarks/models compares.

Each has a class Runner, made from a Job, which runs one network on one input.
worker.py imports the module that it was asked for, and so none of the others'
libraries.
"""
