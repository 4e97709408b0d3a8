# Fuzzers by libFuzzer, in a build folder of their own:
#   cmake -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22
#         -DTARPON_FUZZERS=ON -DTARPON_BUILD_TESTS=OFF -DTARPON_BUILD_BENCHMARKS=OFF
#   ninja -C build-fuzz fuzzers

if(TARPON_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TARPON_FUZZERS needs Clang, which has libFuzzer")
  endif()
  # An assertion that fails is a bug, too.
  add_compile_options(-fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer -g1 -UNDEBUG)
  add_link_options(-fsanitize=address)
endif()

# tarpon_add_fuzzer(NAME SOURCE... [LINK LIB...])
function(tarpon_add_fuzzer name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_link_libraries(${name} PRIVATE tarpon_options ${ARG_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()
