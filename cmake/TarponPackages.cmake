# cpack --config build/CPackConfig.cmake -B build/packages: Debian packages, one for each
# component of TarponInstall.cmake. What a package depends on is found by dpkg-shlibdeps
# in its programs and libraries.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tarpon)
set(CPACK_PACKAGE_VENDOR Tarpon)
set(CPACK_PACKAGE_CONTACT "Tarpon developers <tarpon@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime tools development)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tarpon-runtime)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
  "runs models that Tarpon has compiled
 tarpon-run, and a library with a C interface for programs. Neither needs LLVM.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME tarpon-tools)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "graph compiler for ONNX models that tunes what others guess
 graph-opt, with the system store of measurements, and the compiler as a library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtarpon-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "tarpon-runtime (= ${PROJECT_VERSION}), tarpon-tools (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "headers of Tarpon's compiler and runtime
 What programs are built with that compile models or run them.")

include(CPack)
