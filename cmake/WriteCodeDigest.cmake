# Writes a header with a digest of the sources that decide what code a kernel
# becomes. Called as a script: cmake -DSOURCES=LIST -DCOMPILER=ID -DOUTPUT=FILE
# -DNAME=MACRO -P this.
#
# The compiler decides in which order a call's arguments are evaluated, and so in
# which order code is emitted. Clang's is the one that Tarpon is shipped with.

cmake_minimum_required(VERSION 3.20)
set(hashes "")
foreach(source ${SOURCES})
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
if(NOT COMPILER STREQUAL "Clang")
  string(APPEND hashes ${COMPILER})
endif()
string(SHA256 digest "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define @NAME@ \"@digest@\"\n" @ONLY)
