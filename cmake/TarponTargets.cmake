# How Tarpon's own targets are compiled.

# Where the headers are: what a target of Tarpon gives to those that link it. What
# TableGen writes is not ours to keep warning-free.
add_library(tarpon_headers INTERFACE)
target_include_directories(tarpon_headers INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(tarpon_headers SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/include)

# The warnings that our own sources keep. Targets link it privately: an embedding
# project chooses its own.
add_library(tarpon_options INTERFACE)
target_link_libraries(tarpon_options INTERFACE tarpon_headers)
target_compile_options(tarpon_options INTERFACE -Wall -Wextra)
if(TARPON_WERROR)
  target_compile_options(tarpon_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It warns falsely of an overlap in std::string's operator+ (GCC bug 105651).
  target_compile_options(tarpon_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 calls what it has deprecated. What we call,
  # GCC tells.
  target_compile_options(tarpon_options INTERFACE -Wno-deprecated-declarations)
endif()

# LLVM and MLIR as Debian ships them: shared, without exceptions. Their headers
# count as system headers, so that -Werror speaks of our code alone. Targets with
# the property TARPON_EXCEPTIONS may use libraries that throw.
add_library(tarpon_mlir INTERFACE)
target_include_directories(tarpon_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tarpon_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(tarpon_mlir INTERFACE
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TARPON_EXCEPTIONS>>>:-fno-exceptions>)
target_link_libraries(tarpon_mlir INTERFACE tarpon_llvm)

# tarpon_precompile(TARGET OWNER HEADER...)
# Parses the HEADERs once, for OWNER; the other targets, which must be compiled with
# the same options, take its result. Takes a third off the time of a build with GCC,
# and more with Clang, which keeps the templates that were instantiated.
# ccache does not cache files that use precompiled headers, and saves more than
# they do: it has precedence.
function(tarpon_precompile target owner)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  # Fuzzers link few libraries, and the owner need not be one of them.
  if(TARPON_FUZZERS AND NOT target STREQUAL owner)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Precompiled headers are no system headers any longer, and the memcpy in std::string's
    # operator+ makes it warn falsely of bounds.
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# tarpon_precompile_mlir(TARGET OWNER [HEADER...])
# Precompiles our ops and the dialects that kernels are made of, after the HEADERs.
function(tarpon_precompile_mlir target owner)
  tarpon_precompile(${target} ${owner}
    ${ARGN}
    "${PROJECT_SOURCE_DIR}/include/tarpon/IR/TarponOps.h"
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/Builders.h>
    <mlir/IR/ImplicitLocOpBuilder.h>
    <mlir/IR/OpImplementation.h>)
endfunction()

# tarpon_find_sources(RESULT FOLDER|TREE [NAME...])
# The .cpp files of the current folder, or of those folders in it that are named; with
# TREE also of the folders below. A build looks for new ones before it begins.
function(tarpon_find_sources result depth)
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(ARGN)
    list(TRANSFORM ARGN REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.cpp"
      OUTPUT_VARIABLE patterns)
  endif()
  if(depth STREQUAL "TREE")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# tarpon_add_library(NAME FOLDER|TREE|SOURCE... [DEPENDS TARGET...] [LINK LIB...]
#                    [PRECOMPILE HEADER...])
# A static library of the SOURCEs, and of those that FOLDER or TREE finds (see
# tarpon_find_sources). It sees MLIR only if it links tarpon_mlir, itself or through
# another library; what links it itself has its headers precompiled: with the others,
# or, where its options differ, those of PRECOMPILE by itself.
function(tarpon_add_library name)
  cmake_parse_arguments(ARG "FOLDER;TREE" "" "DEPENDS;LINK;PRECOMPILE" ${ARGN})
  set(sources ${ARG_UNPARSED_ARGUMENTS})
  foreach(depth FOLDER TREE)
    if(ARG_${depth})
      tarpon_find_sources(found ${depth})
      list(APPEND sources ${found})
    endif()
  endforeach()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PRIVATE tarpon_options INTERFACE tarpon_headers
    PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_PRECOMPILE)
    tarpon_precompile(${name} ${name} ${ARG_PRECOMPILE})
  elseif("tarpon_mlir" IN_LIST ARG_LINK)
    tarpon_precompile_mlir(${name} TarponIR)
  endif()
endfunction()

# tarpon_export_library(TARGET NAME Runtime|Compiler VERSION_SCRIPT FILE)
# Makes a shared library one that programs link as Tarpon::NAME: it is called
# libtarpon-<name>.so, exports nothing but what the version script says, and gives
# the public headers to those who link it.
function(tarpon_export_library target)
  cmake_parse_arguments(ARG "" "NAME;VERSION_SCRIPT" "" ${ARGN})
  string(TOLOWER tarpon-${ARG_NAME} file)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file} EXPORT_NAME ${ARG_NAME}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    LINK_DEPENDS ${ARG_VERSION_SCRIPT})
  target_link_options(${target} PRIVATE "-Wl,--version-script=${ARG_VERSION_SCRIPT}"
    -Wl,--gc-sections -Wl,--as-needed -Wl,--no-undefined)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
endfunction()

# tarpon_add_target(LIBRARY FUNCTION)
# Has registerAllTargets call FUNCTION of namespace tarpon, which LIBRARY defines.
function(tarpon_add_target library function)
  set_property(GLOBAL APPEND PROPERTY TARPON_TARGET_LIBRARIES ${library})
  set_property(GLOBAL APPEND PROPERTY TARPON_TARGET_FUNCTIONS ${function})
endfunction()

# tarpon_add_unit_test(NAME SOURCE... [COST SECONDS] [LINK LIB...])
# One GoogleTest executable, run by ctest as a whole, those that take long first.
# Targets that link tarpon_mlir itself have its headers precompiled.
function(tarpon_add_unit_test name)
  cmake_parse_arguments(ARG "" "COST" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tarpon_options ${ARG_LINK} GTest::gmock GTest::gtest_main)
  if("tarpon_mlir" IN_LIST ARG_LINK)
    tarpon_precompile_mlir(${name} TarponIRTests <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()
