# Where the plug-in for GPUs finds cuBLASLt: beside itself, as in an image, and where pip puts NVIDIA's wheel beside ours.
#
#   cmake -DBUILD=... -P plugin.cmake
#
# What stands there is no library, so that the loader refuses it, and names it.

set(root ${BUILD}/tests/install_plugin)
file(REMOVE_RECURSE ${root})
set(library libcublasLt.so.13)

# expect_found(PROGRAM FILE): `PROGRAM info` finds the plug-in, and the plug-in FILE.
function(expect_found program file)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH --unset=DRAGOMAN_CUDA_PLUGIN
                          ${program} info
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${file}: file too short" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${program} should have found ${file}, but printed:\n${output}")
  endif()
endfunction()

file(WRITE ${root}/${library} "made up")
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${root}/usr --component cuda
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(plugin ${root}/usr/lib/dragoman/libdragoman_cuda.so)

# A package or an image.
file(COPY ${BUILD}/dragoman DESTINATION ${root}/usr/bin)
file(COPY ${root}/${library} DESTINATION ${root}/usr/lib/dragoman)
expect_found(${root}/usr/bin/dragoman ${root}/usr/lib/dragoman/${library})

# A wheel, with that of NVIDIA's.
file(COPY ${BUILD}/dragoman DESTINATION ${root}/site-packages/dragoman/bin)
file(COPY ${plugin} DESTINATION ${root}/site-packages/dragoman)
file(COPY ${root}/${library} DESTINATION ${root}/site-packages/nvidia/cu13/lib)
expect_found(${root}/site-packages/dragoman/bin/dragoman
             ${root}/site-packages/dragoman/../nvidia/cu13/lib/${library})

# NCCL is opened when processes train together; the loader looks for it where the plug-in says.
file(STRINGS ${plugin} nccl REGEX [[\$ORIGIN/../nvidia/nccl/lib]])
if(NOT nccl)
  message(FATAL_ERROR "${plugin} does not look for NCCL in NVIDIA's wheel")
endif()

file(STRINGS ${plugin} kept REGEX "${BUILD}")
if(kept)
  message(FATAL_ERROR "what is installed names the build's folder: ${kept}")
endif()
