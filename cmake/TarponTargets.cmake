# How Tarpon's own targets are compiled.

add_library(tarpon_options INTERFACE)
target_compile_options(tarpon_options INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns falsely of overlapping memcpy in std::string's operator+ (GCC bug 105651).
  target_compile_options(tarpon_options INTERFACE -Wno-restrict)
endif()
target_include_directories(tarpon_options INTERFACE ${CMAKE_SOURCE_DIR}/include)
# What TableGen writes is not ours to keep warning-free.
target_include_directories(tarpon_options SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/include)

# LLVM and MLIR as Debian ships them: shared, without exceptions. Their headers
# count as system headers, so that -Werror speaks of our code alone.
add_library(tarpon_mlir INTERFACE)
target_include_directories(tarpon_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tarpon_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(tarpon_mlir INTERFACE -fno-exceptions)
target_link_libraries(tarpon_mlir INTERFACE MLIR LLVM)

# tarpon_add_library(NAME SOURCE... [DEPENDS TARGET...] [LINK LIB...])
# A static library. It sees MLIR only if it links tarpon_mlir, itself or
# through another library.
function(tarpon_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC tarpon_options ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  install(TARGETS ${name} ARCHIVE DESTINATION lib)
endfunction()

# tarpon_precompile_mlir(LIBRARY)
# Parses the MLIR headers that every op needs once, for TarponIR, and reuses the
# result in other libraries that link tarpon_mlir and set no options of their own.
# Takes a quarter off the time to compile them. ccache does not cache files
# that use precompiled headers, and saves more than they do: it has precedence.
function(tarpon_precompile_mlir library)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  if(NOT library STREQUAL "TarponIR")
    target_precompile_headers(${library} REUSE_FROM TarponIR)
    return()
  endif()
  target_precompile_headers(TarponIR PRIVATE
    <mlir/Bytecode/BytecodeOpInterface.h>
    <mlir/Dialect/Quant/IR/QuantTypes.h>
    <mlir/IR/Builders.h>
    <mlir/IR/Dialect.h>
    <mlir/IR/OpDefinition.h>
    <mlir/IR/OpImplementation.h>
    <mlir/Interfaces/InferTypeOpInterface.h>
    <mlir/Interfaces/SideEffectInterfaces.h>)
endfunction()

# tarpon_add_unit_test(NAME SOURCE... [LINK LIB...])
# One GoogleTest executable, run by ctest as a whole.
function(tarpon_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tarpon_options ${ARG_LINK} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
