# Embeds the files of a folder in a C++ source of a room, which is regenerated when one of them changes: the files of
# web/ in report/ (src/report/page.h), those of share/ in base/ (src/base/shared_files.h).
#
# CMakeLists.txt includes this file to define the build steps; a step runs it (cmake -P) to write the source.

if(CMAKE_SCRIPT_MODE_FILE)
  set(source "// Made of ${FOLDER} by cmake/embed.cmake.\n#include \"${HEADER}\"\n\n#include \"base/error.h\"\n\n")
  # Files may be longer than the literals that every compiler must take.
  string(APPEND source "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n")
  string(APPEND source "namespace dragoman::internal {\n\nstd::string_view ${FUNCTION}(std::string_view name) {\n")
  file(GLOB paths ${FOLDER}/*)
  foreach(path IN LISTS paths)
    get_filename_component(name ${path} NAME)
    file(READ ${path} text)
    string(APPEND source "  if (name == \"${name}\") return R\"web(${text})web\";\n")
  endforeach()
  string(APPEND source "  CHECK(false, \"no file {} is part of the program\", name);\n}\n\n}  // namespace dragoman::internal\n")
  file(WRITE ${OUTPUT} "${source}")
  return()
endif()

# dragoman_embed(report web report/page.h embedded_file): that function, which the header declares, returns the files.
function(dragoman_embed room folder header function)
  set(output ${PROJECT_BINARY_DIR}/embedded_${folder}.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DHEADER=${header} -DFUNCTION=${function}
            -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(dragoman_${room} PRIVATE ${output})
endfunction()

dragoman_embed(report web report/page.h embedded_file)
dragoman_embed(base share base/shared_files.h shared_file)
