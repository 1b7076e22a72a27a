# dragoman_room(NAME DEPENDS TARGETS...): src/NAME/*.cpp become the static library dragoman_NAME. A room that has
# only headers is an interface library. New files are found automatically.
function(dragoman_room name)
  cmake_parse_arguments(room "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
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
