# Debian packages, by `make deb`: dragoman (the program), libdragoman (the library), libdragoman-dev (its headers) and,
# where NVIDIA's compiler is found, dragoman-cuda (the plug-in for GPUs).
#
# Each installs its copyright and changelog, as Debian's policy asks. What `cmake --install` installs is the same without
# those.
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "Dragoman's developers <dragoman@users.noreply.dragoman.org>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "neural machine translation toolkit")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
# dragoman_package(COMPONENT PACKAGE SECTION TEXT)
function(dragoman_package component package section text)
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "${text}" PARENT_SCOPE)
  set(folder ${PROJECT_BINARY_DIR}/package/${package})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/package/changelog.in ${folder}/changelog @ONLY)
  execute_process(COMMAND gzip -9nfk ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/copyright ${folder}/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(components program)
dragoman_package(program dragoman science
  "Trains Transformer models on parallel text, imports those of other systems,\n\
translates text and documents, and serves translations over HTTP.")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/dragoman.1)
execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/docs/dragoman.1
                OUTPUT_FILE ${PROJECT_BINARY_DIR}/package/dragoman.1.gz COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/package/dragoman.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
if(DRAGOMAN_LIBRARY)
  list(APPEND components library development)
  set(soname ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  dragoman_package(library libdragoman${soname} libs "The library that the program dragoman is a client of.")
  dragoman_package(development libdragoman-dev libdevel
    "Headers, and what CMake and pkg-config need to build programs with\nlibdragoman.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/triggers)
  set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
endif()
if(TARGET dragoman_cuda)
  list(APPEND components cuda)
  dragoman_package(cuda dragoman-cuda science
    "The plug-in with which dragoman and libdragoman compute on NVIDIA's GPUs.\n\
It needs NVIDIA's driver for CUDA 13 (580 or newer) and libcublasLt.so.13,\n\
which Debian does not have: NVIDIA's package libcublas-13-0, or its toolkit.")
  # It is of one build with them. NVIDIA's library belongs to no package here, so dpkg-shlibdeps would fail; what else it
  # needs the program needs, too.
  set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "dragoman (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_CUDA_PACKAGE_RECOMMENDS "libcublas-13-0 | libcublas-13-1 | libcublas-13-2")
  set(CPACK_DEBIAN_CUDA_PACKAGE_SUGGESTS "libnccl2")  # for several processes
  set(CPACK_DEBIAN_CUDA_PACKAGE_ENHANCES "libdragoman${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
endif()
set(CPACK_COMPONENTS_ALL ${components})
include(CPack)
