# dragoman_room(NAME DEPENDS TARGETS... [CLOSETS FOLDER[:FOLDER,...]...]): src/NAME/*.cpp and those of its closets become
# the static library dragoman_NAME. A room that has only headers is an interface library. New files are found
# automatically. Behind a closet's name are the closets before it that its files may include (tools/check_includes).
function(dragoman_room name)
  cmake_parse_arguments(room "" "" "DEPENDS;CLOSETS" ${ARGN})
  list(TRANSFORM room_CLOSETS REPLACE "^([a-z0-9_]+).*" "${PROJECT_SOURCE_DIR}/src/${name}/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp ${room_CLOSETS})
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(dragoman_${name} STATIC ${sources})
    set(visibility PUBLIC)
  else()
    add_library(dragoman_${name} INTERFACE)
    set(visibility INTERFACE)
  endif()
  target_include_directories(dragoman_${name} ${visibility} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(dragoman_${name} ${visibility} ${room_DEPENDS})
endfunction()
