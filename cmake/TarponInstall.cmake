# cmake --install build --prefix PREFIX [--component COMPONENT]
#
#   runtime      lib/libtarpon-runtime.so.0, bin/tarpon-run
#   tools        bin/graph-opt, bin/tarpon-evaluator and bin/tarpon-emulator, side by side:
#                the first starts the others; lib/libtarpon-compiler.so.0, which starts
#                tarpon-evaluator, too;
#                share/tarpon: the system store, found beside bin/ and lib/
#   development  the public headers, and what find_package(Tarpon) reads
#
# Programs bring their man pages and completions.

include(CMakePackageConfigHelpers)

# Debian's MLIR lies where the loader does not look by itself.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Headers for programs. All others belong to the libraries.
set(TARPON_PUBLIC_HEADERS
  tarpon/C/Runtime.h
  tarpon/Embed/Model.h
  tarpon/Embed/Session.h
  tarpon/Embed/Solutions.h
  tarpon/Runtime/Result.h
  tarpon/Tarpon.h)

# tarpon_install_library(TARGET NAME COMPONENT): a library, and what
# find_package(Tarpon COMPONENTS NAME) reads on it.
function(tarpon_install_library target name component)
  install(TARGETS ${target} EXPORT Tarpon${name}Targets
    LIBRARY DESTINATION lib COMPONENT ${component} NAMELINK_COMPONENT development)
  install(EXPORT Tarpon${name}Targets NAMESPACE Tarpon:: DESTINATION lib/cmake/Tarpon
    COMPONENT development)
endfunction()

function(tarpon_install_cmake_package)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TarponConfig.cmake.in
    ${PROJECT_BINARY_DIR}/TarponConfig.cmake INSTALL_DESTINATION lib/cmake/Tarpon
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/TarponConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/TarponConfig.cmake
    ${PROJECT_BINARY_DIR}/TarponConfigVersion.cmake
    DESTINATION lib/cmake/Tarpon COMPONENT development)
endfunction()

function(tarpon_install_headers)
  foreach(header ${TARPON_PUBLIC_HEADERS})
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${PROJECT_SOURCE_DIR}/include/${header} DESTINATION include/${folder}
      COMPONENT development)
  endforeach()
endfunction()

function(tarpon_install_system_store)
  # Not beside the build's own bin/: what its programs answer, and so the tests,
  # should not depend on the machine.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/data/system-store.tar.xz)
  file(ARCHIVE_EXTRACT INPUT ${PROJECT_SOURCE_DIR}/data/system-store.tar.xz
    DESTINATION ${PROJECT_BINARY_DIR}/system-store)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/system-store/ DESTINATION share/tarpon
    COMPONENT tools)
endfunction()

# tarpon_install_manual(PROGRAM COMPONENT): its man pages and completions.
function(tarpon_install_manual program component)
  set(manual ${PROJECT_BINARY_DIR}/share)
  install(DIRECTORY ${manual}/man/man1 DESTINATION share/man COMPONENT ${component}
    FILES_MATCHING PATTERN "${program}*.1")
  install(FILES ${manual}/bash-completion/completions/${program}
    DESTINATION share/bash-completion/completions COMPONENT ${component})
  install(FILES ${manual}/fish/vendor_completions.d/${program}.fish
    DESTINATION share/fish/vendor_completions.d COMPONENT ${component})
  # Where Debian's zsh looks; others add the folder to their fpath.
  install(FILES ${manual}/zsh/vendor-completions/_${program}
    DESTINATION share/zsh/vendor-completions COMPONENT ${component})
endfunction()

# tarpon_install(): to be called when all targets are there.
function(tarpon_install)
  install(TARGETS tarpon-run RUNTIME DESTINATION bin COMPONENT runtime)
  install(TARGETS graph-opt tarpon-evaluator tarpon-emulator RUNTIME DESTINATION bin COMPONENT tools)
  tarpon_install_library(TarponRuntimeC Runtime runtime)
  tarpon_install_library(TarponCompiler Compiler tools)
  tarpon_install_manual(tarpon-run runtime)
  tarpon_install_manual(graph-opt tools)
  tarpon_install_cmake_package()
  tarpon_install_headers()
  tarpon_install_system_store()
endfunction()
