# The public library: libdragoman.so, its headers, and what find_package(Dragoman) and pkg-config need.
#
# The rooms are static libraries whose symbols are hidden; libdragoman.so consists of the room api/ and of what that
# uses, and exports only what include/dragoman/ marks DRAGOMAN_API (tools/check_symbols).
include(CMakePackageConfigHelpers)

add_library(dragoman_shared SHARED $<TARGET_OBJECTS:dragoman_api>)
set_target_properties(dragoman_shared PROPERTIES
  OUTPUT_NAME dragoman EXPORT_NAME dragoman
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})  # before 1.0 a minor version may change the ABI
target_compile_features(dragoman_shared INTERFACE cxx_std_20)
target_include_directories(dragoman_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
get_target_property(needs dragoman_api LINK_LIBRARIES)
target_link_libraries(dragoman_shared PRIVATE ${needs})
# Inline functions of the standard library that the compiler did not inline are no part of the interface.
set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_options(dragoman_shared PRIVATE -Wl,--version-script=${exports} -Wl,--no-undefined -Wl,--as-needed)
set_target_properties(dragoman_shared PROPERTIES LINK_DEPENDS ${exports})

install(TARGETS dragoman_shared EXPORT DragomanTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dragoman DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/dragoman/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dragoman
        COMPONENT development)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Dragoman)
install(EXPORT DragomanTargets NAMESPACE Dragoman:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/DragomanConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/DragomanConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/DragomanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/DragomanConfig.cmake ${PROJECT_BINARY_DIR}/DragomanConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)

# Relative to where it lies, so that an installed tree may be moved.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/dragoman.pc.in ${PROJECT_BINARY_DIR}/dragoman.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dragoman.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
