# Flags for every file of the project, but never for a dependency's.

# CHECK does not hang on NDEBUG, and the standard library's and nlohmann's own assertions cost nothing here.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Wvla
  -Wno-missing-field-initializers         # designated initialisers name what differs from the defaults
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)  # CHECK prints src/..., whoever built it
if(DRAGOMAN_WERROR)
  add_compile_options(-Werror)
endif()

# The same bits from every compiler that keeps to IEEE arithmetic: multiply-adds are written out. And never
# -march=native: instruction sets are chosen at run time (cmake/kernels.cmake).
add_compile_options(-ffp-contract=off)

if(DRAGOMAN_SANITIZE)
  add_compile_options(-fsanitize=${DRAGOMAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DRAGOMAN_SANITIZE})
endif()
