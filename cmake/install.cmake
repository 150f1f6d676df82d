# cmake --install; packaging/debs makes Debian packages of it. Everything finds its files
# relative to where the program or the library is, so the prefix may be moved as a whole.
# Component "program": the program, libfire.so.N, models, machines, docs. Component "dev":
# what is needed to compile against the library.
include(GNUInstallDirs)
set(bin ${CMAKE_INSTALL_BINDIR})
set(lib ${CMAKE_INSTALL_LIBDIR})
set(share ${CMAKE_INSTALL_DATADIR}/firecaffe)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/firecaffe)

# Libraries in unusual places are found where they were at build time; libfire_early is
# beside the program in the build folder.
file(RELATIVE_PATH up /x/${bin} /x/${lib})
# The emulator's libraries are in the build folder, which only its own rpath names.
if(FIRE_CUDA_EMULATOR)
  set(same_rpath OFF)
else()
  set(same_rpath ON)
endif()
set_target_properties(firecaffe PROPERTIES INSTALL_RPATH "$ORIGIN/${up};$ORIGIN"
  INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ${same_rpath})
set_target_properties(fire_shared PROPERTIES INSTALL_RPATH "$ORIGIN"
  INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ${same_rpath})

install(TARGETS firecaffe RUNTIME DESTINATION ${bin} COMPONENT program)
if(FIRE_HAVE_OPENMP)
  install(TARGETS fire_early LIBRARY DESTINATION ${lib} COMPONENT program NAMELINK_SKIP)
endif()
install(TARGETS fire_shared LIBRARY DESTINATION ${lib} COMPONENT program
  NAMELINK_COMPONENT dev)
foreach(kind IN LISTS FIRE_MPI_MODULES)
  install(TARGETS fire_mpi_${kind} LIBRARY DESTINATION ${lib}/firecaffe COMPONENT program)
endforeach()
file(STRINGS ${CMAKE_SOURCE_DIR}/tools/names.def names REGEX "^NAME")
foreach(line IN LISTS names)
  string(REGEX REPLACE "^NAME\\(([a-z_.]+),.*" "\\1" name "${line}")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/install/names)
  file(CREATE_LINK firecaffe ${CMAKE_BINARY_DIR}/install/names/${name} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/install/names/${name} DESTINATION ${bin} COMPONENT program)
endforeach()

install(DIRECTORY models machines DESTINATION ${share} COMPONENT program
  PATTERN "__pycache__" EXCLUDE PATTERN "*.py" EXCLUDE PATTERN "*.caffemodel" EXCLUDE
  PATTERN "*.solverstate" EXCLUDE PATTERN "*.h5" EXCLUDE)
install(DIRECTORY data/mnist DESTINATION ${share}/data COMPONENT program
  FILES_MATCHING PATTERN "*.gz" PATTERN "README.md")
install(FILES examples/mnist/README.md DESTINATION ${share}/examples/mnist COMPONENT program)
install(PROGRAMS examples/mnist/demo DESTINATION ${share}/examples/mnist COMPONENT program)
install(PROGRAMS examples/kubernetes/train DESTINATION ${share}/examples/kubernetes COMPONENT program)
install(FILES examples/kubernetes/mpijob.yaml DESTINATION ${share}/examples/kubernetes
        COMPONENT program)
install(DIRECTORY examples/c examples/cpp examples/plugin DESTINATION ${share}/examples
  COMPONENT dev OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${doc} COMPONENT program)
install(FILES LICENSE DESTINATION ${doc} RENAME copyright COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${doc}/docs COMPONENT program)

# Man pages and completions, where they were built (target manuals).
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT program OPTIONAL FILES_MATCHING PATTERN "*.1")
install(DIRECTORY ${CMAKE_BINARY_DIR}/completions/bash/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program OPTIONAL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/completions/zsh/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program OPTIONAL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/completions/fish/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program OPTIONAL)

# Headers, fire.pc, find_package(fire).
install(DIRECTORY include/fire DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.h")
include(CMakePackageConfigHelpers)
set(made ${CMAKE_BINARY_DIR}/install)
file(RELATIVE_PATH FIRE_PC_PREFIX /x/${lib}/pkgconfig /x)
configure_file(cmake/fire.pc.in ${made}/fire.pc @ONLY)
install(FILES ${made}/fire.pc DESTINATION ${lib}/pkgconfig COMPONENT dev)
configure_package_config_file(cmake/fireConfig.cmake.in ${made}/fireConfig.cmake
  INSTALL_DESTINATION ${lib}/cmake/fire NO_CHECK_REQUIRED_COMPONENTS_MACRO
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${made}/fireConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${made}/fireConfig.cmake ${made}/fireConfigVersion.cmake
  DESTINATION ${lib}/cmake/fire COMPONENT dev)

# Removes what the last cmake --install wrote.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND}
  -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake)
