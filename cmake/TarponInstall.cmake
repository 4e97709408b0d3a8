# cmake --install build --prefix PREFIX
#   bin/graph-opt, bin/tarpon-evaluator   side by side: the former starts the latter
#   share/tarpon                          the system store: found beside bin/
#   lib, include                          for programs that use Tarpon as a library

# Debian's MLIR lies where the loader does not look by itself.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# tarpon_install(): to be called when all targets are there.
function(tarpon_install)
  install(TARGETS graph-opt tarpon-evaluator RUNTIME DESTINATION bin)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tarpon DESTINATION include
    FILES_MATCHING PATTERN "*.h")
  # What TableGen writes is included by the headers of the dialect and the passes.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/tarpon DESTINATION include
    FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
  # Not beside the build's own bin/: what its programs answer, and so the tests,
  # should not depend on the machine.
  file(ARCHIVE_EXTRACT INPUT ${PROJECT_SOURCE_DIR}/data/system-store.tar.xz
    DESTINATION ${PROJECT_BINARY_DIR}/system-store)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/system-store/ DESTINATION share/tarpon)
endfunction()
