# Embeds the files of web/ in a C++ source (src/report/page.h), which is regenerated when one of them changes.
#
# CMakeLists.txt includes this file to define the build step; the step runs it (cmake -P) to write the source.

if(CMAKE_SCRIPT_MODE_FILE)
  set(source "// Made of web/ by cmake/embed.cmake.\n#include \"report/page.h\"\n\n#include \"base/error.h\"\n\n")
  string(APPEND source "namespace dragoman::internal {\n\nstd::string_view embedded_file(std::string_view name) {\n")
  file(GLOB paths ${WEB}/*)
  foreach(path IN LISTS paths)
    get_filename_component(name ${path} NAME)
    file(READ ${path} text)
    string(APPEND source "  if (name == \"${name}\") return R\"web(${text})web\";\n")
  endforeach()
  string(APPEND source "  CHECK(false, \"no file {} is part of the program\", name);\n}\n\n}  // namespace dragoman::internal\n")
  file(WRITE ${OUTPUT} "${source}")
  return()
endif()

file(GLOB web_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/embedded.cpp
  COMMAND ${CMAKE_COMMAND} -DWEB=${PROJECT_SOURCE_DIR}/web -DOUTPUT=${PROJECT_BINARY_DIR}/embedded.cpp
          -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${web_files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
target_sources(dragoman_report PRIVATE ${PROJECT_BINARY_DIR}/embedded.cpp)
