# The plug-in for GPUs, libdragoman_cuda.so: src/kernels/cuda/. The program opens it when a GPU is asked for, and neither
# links nor needs anything of NVIDIA's.
#
# CMake 3.25 does not know CUDA 13 nor its architectures, so nvcc is called as it is: for the files that have kernels,
# table.cpp and sums.cpp. The files of gpu/ are C++ for the host's compiler.
#   DRAGOMAN_CUDA                 ON where CUDA 13 is found: in CUDA_HOME, CUDA_PATH, /usr/local/cuda, PATH, or
#                                 build/cuda (tools/setup cuda)
#   DRAGOMAN_CUDA_ARCHITECTURES   compute capabilities times 10; newer GPUs compile the last one's intermediate code
set(cuda_source ${PROJECT_SOURCE_DIR}/src/kernels/cuda)

function(is_cuda_13 result nvcc)
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version MATCHES "release (1[3-9]|[2-9][0-9])[.]")
    message(STATUS "${nvcc} is not of CUDA 13")
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# What an earlier build has found may have been replaced since.
set(nvcc_fits TRUE)
if(DRAGOMAN_NVCC)
  is_cuda_13(nvcc_fits "${DRAGOMAN_NVCC}")
endif()
if(NOT nvcc_fits)
  foreach(variable DRAGOMAN_NVCC DRAGOMAN_CUDA_INCLUDE DRAGOMAN_CUDART DRAGOMAN_CUBLASLT)
    unset(${variable} CACHE)
  endforeach()
endif()
# As tools/check_cuda and tools/get_cuda have it, the first of CUDA 13 in this order.
find_program(DRAGOMAN_NVCC nvcc NO_DEFAULT_PATH VALIDATOR is_cuda_13 PATH_SUFFIXES bin
             PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda ENV PATH ${PROJECT_SOURCE_DIR}/build/cuda)
mark_as_advanced(DRAGOMAN_NVCC)
# The compiler's folder may be a link to another disk; its headers and libraries are beside it there.
set(cuda_found OFF)
if(DRAGOMAN_NVCC AND NOT CMAKE_CROSSCOMPILING)
  file(REAL_PATH ${DRAGOMAN_NVCC} nvcc)
  get_filename_component(cuda_root ${nvcc}/../.. ABSOLUTE)
  set(cuda_libraries ${cuda_root}/lib64 ${cuda_root}/lib)
  find_path(DRAGOMAN_CUDA_INCLUDE cublasLt.h NO_DEFAULT_PATH
            PATHS ${cuda_root}/include ${cuda_root}/targets/x86_64-linux/include)
  find_library(DRAGOMAN_CUDART cudart_static NO_DEFAULT_PATH PATHS ${cuda_libraries})
  find_library(DRAGOMAN_CUBLASLT cublasLt NO_DEFAULT_PATH PATHS ${cuda_libraries})
  mark_as_advanced(DRAGOMAN_CUDA_INCLUDE DRAGOMAN_CUDART DRAGOMAN_CUBLASLT)
  if(NOT DRAGOMAN_CUDA_INCLUDE OR NOT DRAGOMAN_CUDART OR NOT DRAGOMAN_CUBLASLT)
    set(cuda_lacks "${cuda_root} lacks cublasLt.h, cudart_static or cublasLt")
  else()
    set(cuda_found ON)
  endif()
else()
  set(cuda_lacks "there is no nvcc of CUDA 13")
endif()
# Not cached unless it is given: nvcc may come later, as by tools/setup cuda.
if(NOT DEFINED DRAGOMAN_CUDA)
  set(DRAGOMAN_CUDA ${cuda_found})
  if(DRAGOMAN_NVCC AND NOT cuda_found)
    message(STATUS "No plug-in for GPUs: ${cuda_lacks}")
  endif()
endif()
set(DRAGOMAN_CUDA_ARCHITECTURES "80;86;89;90;100;120" CACHE STRING "Compute capabilities of the GPUs to compile for")
if(NOT DRAGOMAN_CUDA)
  return()
endif()
if(NOT cuda_found)
  message(FATAL_ERROR "DRAGOMAN_CUDA is ON, but ${cuda_lacks}: run tools/setup cuda, or name CUDA 13's by -DDRAGOMAN_NVCC=")
endif()

# All but the kernels: test_gpu runs it against a GPU that tests make up, under sanitizers, too. The plug-in they have not.
file(GLOB cuda_files CONFIGURE_DEPENDS ${cuda_source}/gpu/*.cpp)
if(DRAGOMAN_SANITIZE)
  return()
endif()

# As on the host, every compiler must give the same bits: multiply-adds are written out. Divisions and square roots are
# rounded correctly, and small numbers kept, as is nvcc's default.
set(nvcc_flags -x cu -std=c++20 --expt-relaxed-constexpr -fmad=false -O3 -ccbin ${CMAKE_CXX_COMPILER}
    -Xcompiler=-fPIC,-fvisibility=hidden,-ffp-contract=off -I${PROJECT_SOURCE_DIR}/src --threads 2)
foreach(architecture IN LISTS DRAGOMAN_CUDA_ARCHITECTURES)
  list(APPEND nvcc_flags -gencode arch=compute_${architecture},code=sm_${architecture})
endforeach()
list(GET DRAGOMAN_CUDA_ARCHITECTURES -1 newest)
list(APPEND nvcc_flags -gencode arch=compute_${newest},code=compute_${newest})
if(DRAGOMAN_WERROR)
  list(APPEND nvcc_flags -Werror all-warnings)
endif()

set(cuda_kernels)
foreach(name table sums)
  set(object ${PROJECT_BINARY_DIR}/cuda_${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${DRAGOMAN_NVCC} ${nvcc_flags} -c ${cuda_source}/${name}.cpp -o ${object} -MD -MF ${object}.d -MT ${object}
    DEPENDS ${cuda_source}/${name}.cpp
    DEPFILE ${object}.d
    COMMENT "Compiling ${name}.cpp of the GPU's kernels for ${DRAGOMAN_CUDA_ARCHITECTURES}"
    VERBATIM)
  list(APPEND cuda_kernels ${object})
endforeach()

add_library(dragoman_cuda SHARED ${cuda_files} ${cuda_kernels})
set_source_files_properties(${cuda_kernels} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_include_directories(dragoman_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(dragoman_cuda SYSTEM PRIVATE ${DRAGOMAN_CUDA_INCLUDE})
target_compile_definitions(dragoman_cuda PRIVATE DRAGOMAN_PLUGIN_VERSION="${PROJECT_VERSION}")
# The runtime is part of the plug-in and looks for the driver itself; cuBLASLt is large, and shared.
target_link_libraries(dragoman_cuda PRIVATE ${DRAGOMAN_CUDART} ${DRAGOMAN_CUBLASLT} Threads::Threads ${CMAKE_DL_LIBS} rt)
set(exports ${PROJECT_SOURCE_DIR}/cmake/cuda_exports.map)
target_link_options(dragoman_cuda PRIVATE -Wl,--version-script=${exports} -Wl,--no-undefined -Wl,--as-needed)
get_filename_component(cuda_libraries ${DRAGOMAN_CUBLASLT} DIRECTORY)
# Where cuBLASLt and NCCL are: beside it; in a bundle of tools/gpu; in a build; in NVIDIA's wheels where it is part of ours;
# in NVIDIA's own packages.
set(cuda_rpath "$ORIGIN" "$ORIGIN/../lib" "$ORIGIN/.." "$ORIGIN/../nvidia/cu13/lib" "$ORIGIN/../nvidia/nccl/lib"
               /usr/local/cuda-13/lib64 /usr/local/cuda/lib64)
set_target_properties(dragoman_cuda PROPERTIES
  LINK_DEPENDS ${exports} UNITY_BUILD OFF LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_RPATH "${cuda_rpath};${cuda_libraries}" INSTALL_RPATH "${cuda_rpath}")

# With the program or alone: `cmake --install BUILD --component cuda`. The program finds it there (kernels/devices.h).
install(TARGETS dragoman_cuda LIBRARY DESTINATION lib/dragoman COMPONENT cuda)
