# The GPU's kernels on the host, for tests: src/kernels/cuda/host/ runs their threads as fibers of Boost.Context, and
# src/kernels/cuda/table.cpp is compiled a second time, by the host's compiler, as the table of cuda_on_host().
# Test programs are compiled with
#   DRAGOMAN_CUDA_ON_HOST      1 where that table is one of those that they run on (tests/testing.h)
# The thread sanitizer cannot follow fibers: under it there is neither.

if(DRAGOMAN_TESTS AND NOT DRAGOMAN_SANITIZE MATCHES "thread")
  find_package(Boost 1.74 QUIET COMPONENTS context)
  if(Boost_CONTEXT_FOUND)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/cuda/host/*.cpp
                                        ${PROJECT_SOURCE_DIR}/src/kernels/cuda/table.cpp
                                        ${PROJECT_SOURCE_DIR}/src/kernels/cuda/sums.cpp)
    add_library(dragoman_cuda_on_host STATIC ${sources})
    set_target_properties(dragoman_cuda_on_host PROPERTIES UNITY_BUILD OFF)
    # -O2 in every preset: what fibers compute takes long enough. The other flags are those of the CPU's kernels; and
    # nvcc's pragmas for unrolling are not the host compiler's.
    target_compile_options(dragoman_cuda_on_host PRIVATE -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math
                           -Wno-unknown-pragmas $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
    target_link_libraries(dragoman_cuda_on_host PUBLIC dragoman_kernels PRIVATE Boost::context)
  else()
    message(STATUS "Boost.Context was not found: the GPU's kernels are not tested on the host")
  endif()
endif()

# Tests of these rooms run over every table of kernels.
function(dragoman_test_cuda_on_host target room)
  if(NOT TARGET dragoman_cuda_on_host OR NOT room MATCHES "^(kernels|tensor|ops|model|search|train|golden|device)$")
    return()
  endif()
  target_link_libraries(${target} PRIVATE dragoman_cuda_on_host)
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/kernels/cuda/table.cpp)
    target_compile_definitions(${target} PRIVATE DRAGOMAN_CUDA_ON_HOST=1)
  endif()
endfunction()
