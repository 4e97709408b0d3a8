# tarpon_add_gpu_code_digest(VARIABLE)
# As for the host, GPU kernels are kept under what made them: writes GpuCodeDigest.h,
# with the digest of the sources that emit kernels and of the calling folder, and
# stores its path in VARIABLE.
function(tarpon_add_gpu_code_digest variable)
  file(GLOB gpu_sources CONFIGURE_DEPENDS *.cpp *.h ${PROJECT_SOURCE_DIR}/lib/Targets/GPU/Backend/*.cpp
       ${PROJECT_SOURCE_DIR}/lib/Targets/GPU/Backend/*.h
       ${PROJECT_SOURCE_DIR}/include/tarpon/Targets/GPU/*.h)
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
    ${PROJECT_SOURCE_DIR}/include/tarpon/Runtime/FloatFormat.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Runtime/KernelABI.h
    ${PROJECT_SOURCE_DIR}/include/tarpon/Targets/Codegen/LlvmCodegen.h
    ${PROJECT_SOURCE_DIR}/lib/Runtime/DType.cpp ${PROJECT_SOURCE_DIR}/lib/Runtime/FloatFormat.cpp
    ${PROJECT_SOURCE_DIR}/lib/Targets/Compiler/KernelCompiler.cpp)
  set(code_digest ${CMAKE_CURRENT_BINARY_DIR}/GpuCodeDigest.h)
  add_custom_command(OUTPUT ${code_digest}
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${code_sources};${gpu_sources}" -DOUTPUT=${code_digest}
            -DCOMPILER=${CMAKE_CXX_COMPILER_ID}
            -DNAME=TARPON_GPU_CODE_DIGEST
            -P ${PROJECT_SOURCE_DIR}/cmake/WriteCodeDigest.cmake
    DEPENDS ${code_sources} ${gpu_sources} VERBATIM)
  set(${variable} ${code_digest} PARENT_SCOPE)
endfunction()
