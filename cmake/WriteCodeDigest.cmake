# Writes a header with a digest of the sources that decide what code a kernel
# becomes. Called as a script: cmake -DSOURCES=LIST -DOUTPUT=FILE -DNAME=MACRO -P
# this.

set(hashes "")
foreach(source ${SOURCES})
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 digest "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define @NAME@ \"@digest@\"\n" @ONLY)
