# Flags for the project's own files, not for its dependencies.

# No -DNDEBUG: CHECK does not depend on it, and the assertions of the standard library and nlohmann cost nothing here.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Wvla
  -Wno-missing-field-initializers         # designated initialisers name only what differs from the defaults
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)  # CHECK prints src/..., wherever it was built
# GCC takes the files of a batch for headers, where a member's type must not have a nameless namespace.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-subobject-linkage)
endif()
if(DRAGOMAN_WERROR)
  add_compile_options(-Werror)
endif()

# Every compiler with IEEE arithmetic must give the same bits, so fused multiply-adds are written out. Never use
# -march=native: instruction sets are chosen at run time (cmake/kernels.cmake).
add_compile_options(-ffp-contract=off)

if(DRAGOMAN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(DRAGOMAN_SANITIZE)
  # -g1: line numbers for stack traces; compiles faster than full debug information.
  add_compile_options(-fsanitize=${DRAGOMAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${DRAGOMAN_SANITIZE})
  # Compilers have different macros for the same.
  if(DRAGOMAN_SANITIZE MATCHES "address")
    add_compile_definitions(DRAGOMAN_ADDRESS_SANITIZER)
  elseif(DRAGOMAN_SANITIZE MATCHES "thread")
    add_compile_definitions(DRAGOMAN_THREAD_SANITIZER)
  endif()
endif()
