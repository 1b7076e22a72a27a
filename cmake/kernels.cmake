# One source of CPU kernels, src/kernels/cpu/table.cpp, compiled once for each instruction set; and a small one,
# low_precision_table.cpp, for the sets that add a few instructions to the largest. Each copy sees
#   DRAGOMAN_INSTRUCTION_SET   baseline, avx2, avx512, ...: a bare token, in the table's name
# and src/kernels/*.cpp, which chooses among the tables at start, sees
#   DRAGOMAN_X86               1 where avx2 and avx512 were built beside baseline, else 0
# The flags are the same in every preset: a debug build computes the release build's bits at its speed. Sanitizers alone
# have less optimised kernels, of the same bits: they take a sixth of the time to compile.

set(dragoman_x86 0)
if(DRAGOMAN_X86 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(dragoman_x86 1)
endif()

# No -ffast-math: nothing may reorder a sum. These two only say that nobody reads errno or traps.
set(kernel_flags -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(DRAGOMAN_SANITIZE)
  list(APPEND kernel_flags -O1)
endif()

function(dragoman_instruction_set name file)
  set(source ${PROJECT_SOURCE_DIR}/src/kernels/cpu/${file})
  get_target_property(type dragoman_kernels TYPE)
  if(NOT EXISTS ${source} OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  add_library(dragoman_kernels_${name} OBJECT ${source})
  target_include_directories(dragoman_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(dragoman_kernels_${name} PRIVATE
    DRAGOMAN_INSTRUCTION_SET=${name} DRAGOMAN_X86=${dragoman_x86})
  target_compile_options(dragoman_kernels_${name} PRIVATE ${kernel_flags} ${ARGN})
  target_sources(dragoman_kernels PRIVATE $<TARGET_OBJECTS:dragoman_kernels_${name}>)
endfunction()

if(dragoman_x86)
  set(avx2 -march=x86-64 -mavx2 -mfma -mf16c)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)
  dragoman_instruction_set(baseline   table.cpp -march=x86-64)
  dragoman_instruction_set(avx2       table.cpp ${avx2})
  dragoman_instruction_set(avx512     table.cpp ${avx512})
  dragoman_instruction_set(avx512vnni low_precision_table.cpp ${avx512} -mavx512vnni)
  dragoman_instruction_set(avx512bf16 low_precision_table.cpp ${avx512} -mavx512vnni -mavx512bf16)
else()
  dragoman_instruction_set(baseline table.cpp)
endif()

get_target_property(type dragoman_kernels TYPE)
if(NOT type STREQUAL "INTERFACE_LIBRARY")
  target_compile_definitions(dragoman_kernels PRIVATE DRAGOMAN_X86=${dragoman_x86})
endif()
