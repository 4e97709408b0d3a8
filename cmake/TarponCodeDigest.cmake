# Kernels in the cache are keyed by the sources that emitted and compiled them,
# so that no build is served another build's code. test_code_digest.py knows the
# headers that they include and that decide nothing about code.

# tarpon_find_code_sources(VARIABLE)
# Stores the sources that decide about the code of every target.
function(tarpon_find_code_sources variable)
  file(GLOB_RECURSE code_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/lib/Problem/*.cpp ${PROJECT_SOURCE_DIR}/lib/Problem/*.h
    ${PROJECT_SOURCE_DIR}/lib/Solver/*.cpp ${PROJECT_SOURCE_DIR}/lib/Solver/*.h
    ${PROJECT_SOURCE_DIR}/lib/Solver/*.def
    ${PROJECT_SOURCE_DIR}/lib/Kernels/*.cpp ${PROJECT_SOURCE_DIR}/lib/Kernels/*.h
    ${PROJECT_SOURCE_DIR}/lib/Kernels/*.def
    ${PROJECT_SOURCE_DIR}/lib/Targets/Codegen/*.cpp ${PROJECT_SOURCE_DIR}/lib/Targets/Linker/*.cpp
    ${PROJECT_SOURCE_DIR}/include/tarpon/Problem/*.h ${PROJECT_SOURCE_DIR}/include/tarpon/Problem/*.def
    ${PROJECT_SOURCE_DIR}/include/tarpon/Solver/*.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Kernels/*.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Runtime/DType*
    ${PROJECT_SOURCE_DIR}/include/tarpon/IR/ResizedDim.h ${PROJECT_SOURCE_DIR}/lib/IR/ResizedDim.cpp
    ${PROJECT_SOURCE_DIR}/include/tarpon/Runtime/FloatFormat.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Runtime/NarrowInteger.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Runtime/KernelABI.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Targets/Codegen/LlvmCodegen.h
    ${PROJECT_SOURCE_DIR}/lib/Runtime/DType.cpp ${PROJECT_SOURCE_DIR}/lib/Runtime/FloatFormat.cpp
    ${PROJECT_SOURCE_DIR}/lib/Targets/Compiler/KernelCompiler.cpp
    ${PROJECT_SOURCE_DIR}/include/tarpon/Targets/Compiler/LaunchKernel.h)
  set(${variable} ${code_sources} PARENT_SCOPE)
endfunction()

# tarpon_add_code_digest(VARIABLE HEADER MACRO SOURCE...)
# Writes the header, which defines the macro as the digest of the sources, and
# stores its path in VARIABLE.
function(tarpon_add_code_digest variable header macro)
  set(code_digest ${CMAKE_CURRENT_BINARY_DIR}/${header})
  add_custom_command(OUTPUT ${code_digest}
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${ARGN}" -DOUTPUT=${code_digest}
            -DCOMPILER=${CMAKE_CXX_COMPILER_ID}
            -DNAME=${macro}
            -P ${PROJECT_SOURCE_DIR}/cmake/WriteCodeDigest.cmake
    DEPENDS ${ARGN} VERBATIM)
  set(${variable} ${code_digest} PARENT_SCOPE)
endfunction()

# tarpon_add_gpu_code_digest(VARIABLE)
# Writes GpuCodeDigest.h: the digest has the sources of all GPUs and those of the
# calling folder, too.
function(tarpon_add_gpu_code_digest variable)
  tarpon_find_code_sources(code_sources)
  file(GLOB gpu_sources CONFIGURE_DEPENDS *.cpp *.h ${PROJECT_SOURCE_DIR}/lib/Targets/GPU/Backend/*.cpp
       ${PROJECT_SOURCE_DIR}/lib/Targets/GPU/Backend/*.h
       ${PROJECT_SOURCE_DIR}/include/tarpon/Targets/GPU/*.h)
  tarpon_add_code_digest(code_digest GpuCodeDigest.h TARPON_GPU_CODE_DIGEST
                         ${code_sources} ${gpu_sources})
  set(${variable} ${code_digest} PARENT_SCOPE)
endfunction()
