# Everything that Tarpon builds on, all from Debian's packages (scripts/packages.txt).

set(TARPON_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "Where LLVM and MLIR 22.1 are installed")
list(APPEND CMAKE_PREFIX_PATH ${TARPON_LLVM_PREFIX})

find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLD 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE STRING "The lit test driver")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
# SHA-256 is 20 KB of the static library, the shared one has 5 MB.
find_library(TARPON_CRYPTO_LIBRARY libcrypto.a REQUIRED)
# Signatures are 100 KB of the static library.
find_library(TARPON_SODIUM_LIBRARY libsodium.a REQUIRED)
# So is the filter of candidates' system calls.
find_library(TARPON_SECCOMP_LIBRARY libseccomp.a REQUIRED)
find_package(CLI11 REQUIRED)
foreach(name soci_core soci_sqlite3)
  find_library(TARPON_${name}_LIBRARY ${name} REQUIRED)
  list(APPEND TARPON_SOCI_LIBRARIES ${TARPON_${name}_LIBRARY})
endforeach()
# The solver of integer programs, and what it builds on, from dependents to dependencies.
foreach(name CbcSolver Cbc Cgl OsiClp ClpSolver Clp Osi CoinUtils)
  find_library(TARPON_${name}_LIBRARY ${name} REQUIRED)
  list(APPEND TARPON_CBC_LIBRARIES ${TARPON_${name}_LIBRARY})
endforeach()
if(TARPON_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(TARPON_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
