# Installs BUILD into a folder, builds client/ against it with find_package and with pkg-config, and runs both.
#
#   cmake -DBUILD=... -DCOMPILER=... -DVERSION=... -P client.cmake

set(client ${CMAKE_CURRENT_LIST_DIR}/client)
set(root ${BUILD}/tests/install)
file(REMOVE_RECURSE ${root})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_client program)
  foreach(i RANGE 40)
    file(APPEND ${root}/corpus "a line of a corpus with the number ${i}\n")
  endforeach()
  file(REMOVE_RECURSE ${root}/model)
  run(${program} ${root}/corpus ${root}/model)
  if(NOT output MATCHES "${VERSION}: 3 steps, BLEU" OR NOT output MATCHES "error: .*no such folder")
    message(FATAL_ERROR "${program} printed:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${root}/usr)
run(${root}/usr/bin/dragoman --version)

run(${CMAKE_COMMAND} -S ${client} -B ${root}/build -DCMAKE_PREFIX_PATH=${root}/usr -DCMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${root}/build)
run_client(${root}/build/client)

find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE pc ${root}/usr/dragoman.pc)
cmake_path(GET pc PARENT_PATH pc_folder)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
run(${pkg_config} --cflags --libs dragoman)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${pkg_config} --variable=libdir dragoman)
string(STRIP "${output}" libdir)
run(${COMPILER} -std=c++20 ${client}/client.cpp -o ${root}/client ${flags} -Wl,-rpath,${libdir})
run_client(${root}/client)
