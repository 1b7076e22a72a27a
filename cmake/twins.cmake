# What stands for GPUs and NVIDIA's libraries in tests (tests/gpu/):
#   dragoman_on_fake_gpu(TARGET)   the plug-in's own code in this target, on a GPU that tests make up; with the kernels of
#                                  sums over processes, where the host can run them
#   cuda_plugin_twin, nccl_twin    libraries that the program opens as the plug-in and as NCCL: with them it trains in
#                                  several processes, each with a GPU. Only where the host can run kernels.
#   dragoman_plugin_twin, dragoman_nccl_twin   their files, or nothing

function(dragoman_on_fake_gpu target)
  target_sources(${target} PRIVATE ${cuda_files})
  target_include_directories(${target} SYSTEM PRIVATE ${DRAGOMAN_CUDA_INCLUDE})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE DRAGOMAN_PLUGIN_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE dragoman_base)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  if(TARGET dragoman_cuda_on_host)  # without what it stands on, which has a base of contexts, too
    target_link_libraries(${target} PRIVATE $<TARGET_FILE:dragoman_cuda_on_host> Boost::context)
    add_dependencies(${target} dragoman_cuda_on_host)
  endif()
endfunction()

set(dragoman_plugin_twin "")
set(dragoman_nccl_twin "")
if(NOT DRAGOMAN_CUDA OR NOT TARGET dragoman_cuda_on_host)
  return()
endif()

add_library(cuda_plugin_twin MODULE gpu/twins/plugin.cpp gpu/fake_cublaslt.cpp gpu/fake_driver.cpp gpu/fake_gpu.cpp
                                    gpu/fake_launch.cpp gpu/fake_runtime.cpp)
dragoman_on_fake_gpu(cuda_plugin_twin)
target_link_options(cuda_plugin_twin PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/cuda_exports.map)
add_library(nccl_twin MODULE gpu/twins/nccl.cpp)
target_include_directories(nccl_twin PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_include_directories(nccl_twin SYSTEM PRIVATE ${DRAGOMAN_CUDA_INCLUDE})
set(dragoman_plugin_twin $<TARGET_FILE:cuda_plugin_twin>)
set(dragoman_nccl_twin $<TARGET_FILE:nccl_twin>)
