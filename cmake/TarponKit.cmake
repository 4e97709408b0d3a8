# Programs that run where there is nothing but glibc, which scripts/make-kit carries.
#
# Their objects are those of the other programs, so that only linking them costs time.

# LLVM has hundreds of archives that need each other; this linker takes them in any order.
find_program(TARPON_LLD ld.lld HINTS ${TARPON_LLVM_PREFIX}/bin NO_DEFAULT_PATH)
file(GLOB TARPON_LLVM_ARCHIVES ${TARPON_LLVM_PREFIX}/lib/libMLIR*.a
  ${TARPON_LLVM_PREFIX}/lib/libLLVM*.a ${TARPON_LLVM_PREFIX}/lib/liblld*.a)
# lld registers every backend for its link-time optimisation. Tarpon has its own registered.
set(TARPON_KIT_BACKENDS X86 AMDGPU NVPTX)
foreach(name sqlite3 soci_core soci_sqlite3 protobuf zstd z bz2 lapack blas
    CbcSolver Cbc Cgl OsiClp ClpSolver Clp Osi CoinUtils)
  find_library(TARPON_${name}_ARCHIVE lib${name}.a)
endforeach()
# Debian has no archive of ONNX's messages, and their description with its Python package.
find_file(TARPON_ONNX_PROTO onnx/onnx-ml.proto PATHS /usr/lib/python3/dist-packages)

# tarpon_add_dependency(NAME SHARED LIBRARY... STATIC ARCHIVE...)
# An interface library for what is linked from a shared library, but from an archive into
# programs with the property TARPON_STATIC.
function(tarpon_add_dependency name)
  cmake_parse_arguments(ARG "" "" "SHARED;STATIC" ${ARGN})
  set(static $<BOOL:$<TARGET_PROPERTY:TARPON_STATIC>>)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE
    "$<$<NOT:${static}>:${ARG_SHARED}>" "$<${static}:${ARG_STATIC}>")
endfunction()

# Defines what lld registers of the other backends, and Polly, which another package has: by
# functions that do nothing, since Tarpon links machine code alone.
function(tarpon_add_unused_extensions)
  set(text "#include \"llvm/Plugins/PassPlugin.h\"\n")
  string(APPEND text "llvm::PassPluginLibraryInfo getPollyPluginInfo() {\n"
    "  return {LLVM_PLUGIN_API_VERSION, \"\", \"\", [](llvm::PassBuilder &) {}};\n}\n")
  set(backends ${LLVM_TARGETS_TO_BUILD})
  list(REMOVE_ITEM backends ${TARPON_KIT_BACKENDS})
  foreach(backend ${backends})
    foreach(part TargetInfo Target TargetMC TargetMCA AsmPrinter AsmParser Disassembler)
      string(APPEND text "extern \"C\" void LLVMInitialize${backend}${part}() {}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kit/UnusedExtensions.cpp CONTENT "${text}" @ONLY)
  add_library(tarpon_unused_extensions STATIC EXCLUDE_FROM_ALL
    ${PROJECT_BINARY_DIR}/kit/UnusedExtensions.cpp)
  target_include_directories(tarpon_unused_extensions SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
endfunction()

# The package describes messages that cannot tell the names of their values.
function(tarpon_add_onnx_messages)
  set(folder ${PROJECT_BINARY_DIR}/kit/messages)
  file(READ ${TARPON_ONNX_PROTO} description)
  string(REPLACE "option optimize_for = LITE_RUNTIME;" "" description "${description}")
  file(CONFIGURE OUTPUT ${folder}/onnx/onnx-ml.proto CONTENT "${description}" @ONLY)
  set(messages ${folder}/onnx/onnx-ml.pb.cc ${folder}/onnx/onnx-ml.pb.h)
  add_custom_command(OUTPUT ${messages}
    COMMAND protobuf::protoc -I ${folder} --cpp_out=${folder} onnx/onnx-ml.proto
    DEPENDS ${folder}/onnx/onnx-ml.proto VERBATIM)
  add_library(tarpon_onnx_messages STATIC EXCLUDE_FROM_ALL ${messages})
  target_include_directories(tarpon_onnx_messages SYSTEM PRIVATE ${folder})
endfunction()

# tarpon_add_to_kit(PROGRAM)
# Adds PROGRAM-static: build/kit/bin/PROGRAM, of the same objects, which needs of the
# machine glibc alone.
function(tarpon_add_to_kit program)
  if(NOT TARPON_LLD)
    return()
  endif()
  set(target ${program}-static)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}>)
  set_target_properties(${target} PROPERTIES
    TARPON_STATIC ON OUTPUT_NAME ${program} LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/kit/bin)
  target_link_libraries(${target} PRIVATE ${libraries})
  target_link_options(${target} PRIVATE -fuse-ld=lld -B${TARPON_LLVM_PREFIX}/bin
    -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,-s)
endfunction()

find_package(ZLIB REQUIRED GLOBAL)
tarpon_add_unused_extensions()
tarpon_add_onnx_messages()
tarpon_add_dependency(tarpon_llvm SHARED MLIR LLVM
  STATIC tarpon_unused_extensions ${TARPON_LLVM_ARCHIVES} ${TARPON_zstd_ARCHIVE})
tarpon_add_dependency(tarpon_lld SHARED lldELF lldCommon STATIC tarpon_llvm)
tarpon_add_dependency(tarpon_onnx SHARED onnx_proto
  STATIC tarpon_onnx_messages ${TARPON_protobuf_ARCHIVE})
tarpon_add_dependency(tarpon_sqlite SHARED SQLite::SQLite3 STATIC ${TARPON_sqlite3_ARCHIVE})
# PostgreSQL's part of SOCI is loaded when it is needed.
tarpon_add_dependency(tarpon_soci SHARED ${TARPON_SOCI_LIBRARIES}
  STATIC ${TARPON_soci_sqlite3_ARCHIVE} ${TARPON_soci_core_ARCHIVE} ${TARPON_sqlite3_ARCHIVE})
# CBC factors matrices by LAPACK, which is Fortran.
file(GLOB TARPON_FORTRAN_ARCHIVES /usr/lib/gcc/x86_64-linux-gnu/12/libgfortran.a
  /usr/lib/gcc/x86_64-linux-gnu/12/libquadmath.a)
foreach(name CbcSolver Cbc Cgl OsiClp ClpSolver Clp Osi CoinUtils bz2 z lapack blas)
  list(APPEND TARPON_CBC_ARCHIVES ${TARPON_${name}_ARCHIVE})
endforeach()
tarpon_add_dependency(tarpon_cbc SHARED ${TARPON_CBC_LIBRARIES}
  STATIC ${TARPON_CBC_ARCHIVES} ${TARPON_FORTRAN_ARCHIVES})
tarpon_add_dependency(tarpon_zlib SHARED ZLIB::ZLIB STATIC ${TARPON_z_ARCHIVE})
