# Everything that Tarpon builds on, all from Debian's packages (scripts/packages.txt).

set(TARPON_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "Where LLVM and MLIR 22.1 are installed")
list(APPEND CMAKE_PREFIX_PATH ${TARPON_LLVM_PREFIX})

find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLD 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE STRING "The lit test driver")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
