# The CPU kernels are one source, src/kernels/cpu/table.cpp, compiled once per instruction set, and a small second one,
# low_precision_table.cpp, for the sets that add a few instructions to the largest. Each copy is compiled with
#   DRAGOMAN_INSTRUCTION_SET   baseline, avx2, avx512, ...: a bare token, part of the table's name
# and src/kernels/*.cpp, which selects a table at start, with
#   DRAGOMAN_X86               1 if avx2 and avx512 were built in addition to baseline, else 0
#   DRAGOMAN_ARM               1 if dotprod was, else 0
# The flags are the same in every preset: a debug build computes the same bits as a release build, at the same speed.
# Only sanitizer builds have less optimised kernels, with the same bits: they compile in a sixth of the time.

set(dragoman_x86 0)
if(DRAGOMAN_X86 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(dragoman_x86 1)
endif()
set(dragoman_arm 0)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(dragoman_arm 1)
endif()

# No -ffast-math: nothing may reorder a sum. The last two flags only say that errno and traps are not used.
set(kernel_flags -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(DRAGOMAN_SANITIZE)
  list(APPEND kernel_flags -O1)
endif()
if(DRAGOMAN_FUZZ)
  list(APPEND kernel_flags -fno-sanitize=fuzzer-no-link)  # what they compute is no way to find inputs
endif()

function(dragoman_instruction_set name file)
  set(source ${PROJECT_SOURCE_DIR}/src/kernels/cpu/${file})
  get_target_property(type dragoman_kernels TYPE)
  if(NOT EXISTS ${source} OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  add_library(dragoman_kernels_${name} OBJECT ${source})
  set_target_properties(dragoman_kernels_${name} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(dragoman_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(dragoman_kernels_${name} PRIVATE
    DRAGOMAN_INSTRUCTION_SET=${name} DRAGOMAN_X86=${dragoman_x86} DRAGOMAN_ARM=${dragoman_arm})
  target_compile_options(dragoman_kernels_${name} PRIVATE ${kernel_flags} ${ARGN})
  target_sources(dragoman_kernels PRIVATE $<TARGET_OBJECTS:dragoman_kernels_${name}>)
endfunction()

# For tests: AMX's products by a model of its instructions, on processors without them.
set(dragoman_tile_models "")
function(dragoman_tile_model name)
  if(NOT DRAGOMAN_TESTS)
    return()
  endif()
  add_library(dragoman_${name} OBJECT ${PROJECT_SOURCE_DIR}/src/kernels/cpu/low_precision_table.cpp)
  set_target_properties(dragoman_${name} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(dragoman_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(dragoman_${name} PRIVATE DRAGOMAN_INSTRUCTION_SET=${name} DRAGOMAN_TILES DRAGOMAN_TILE_MODEL)
  target_compile_options(dragoman_${name} PRIVATE ${kernel_flags} ${ARGN})
  set(dragoman_tile_models ${dragoman_tile_models} $<TARGET_OBJECTS:dragoman_${name}> PARENT_SCOPE)
endfunction()

if(dragoman_x86)
  set(avx2 -march=x86-64 -mavx2 -mfma -mf16c)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)
  dragoman_instruction_set(baseline   table.cpp -march=x86-64)
  dragoman_instruction_set(avx2       table.cpp ${avx2})
  dragoman_instruction_set(avx512     table.cpp ${avx512})
  dragoman_instruction_set(avx512vnni low_precision_table.cpp ${avx512} -mavx512vnni)
  dragoman_instruction_set(avx512bf16 low_precision_table.cpp ${avx512} -mavx512vnni -mavx512bf16)
  dragoman_instruction_set(amx        low_precision_table.cpp ${avx512} -mavx512vnni -mavx512bf16 -DDRAGOMAN_TILES)
  dragoman_tile_model(tile_model        -march=x86-64)
  dragoman_tile_model(tile_model_avx512 ${avx512})
else()
  dragoman_instruction_set(baseline table.cpp)
  if(dragoman_arm)
    dragoman_instruction_set(dotprod low_precision_table.cpp -march=armv8.2-a+dotprod)
  endif()
  dragoman_tile_model(tile_model)
endif()

get_target_property(type dragoman_kernels TYPE)
if(NOT type STREQUAL "INTERFACE_LIBRARY")
  target_compile_definitions(dragoman_kernels PRIVATE DRAGOMAN_X86=${dragoman_x86} DRAGOMAN_ARM=${dragoman_arm})
endif()
