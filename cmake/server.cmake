# Serving: src/http/beast/ with Boost.Beast and OpenSSL, or only its missing.cpp, which reports that they are missing.

file(GLOB dragoman_beast CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/http/beast/*.cpp)
set(dragoman_serves OFF)
set(dragoman_http ${PROJECT_SOURCE_DIR}/src/http/beast/missing.cpp)
list(REMOVE_ITEM dragoman_beast ${dragoman_http})
if(DRAGOMAN_SERVER)
  find_package(Boost 1.81)
  find_package(OpenSSL)
  if(Boost_FOUND AND OPENSSL_FOUND AND dragoman_beast)
    set(dragoman_serves ON)
    set(dragoman_http ${dragoman_beast})
    target_link_libraries(dragoman_http PRIVATE Boost::headers OpenSSL::SSL OpenSSL::Crypto)
    # Compiled once, in library.cpp.
    target_compile_definitions(dragoman_http PRIVATE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                               BOOST_ASIO_NO_DEPRECATED)
    # GCC's thread sanitizer knows no fences. Asio's order nothing here that its locks do not.
    if(DRAGOMAN_SANITIZE STREQUAL "thread")
      target_compile_definitions(dragoman_http PRIVATE BOOST_ASIO_DISABLE_FENCED_BLOCK)
    endif()
  endif()
endif()
target_sources(dragoman_http PRIVATE ${dragoman_http})

file(GLOB dragoman_openssl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/serve/openssl/*.cpp)
set(dragoman_secrets ${PROJECT_SOURCE_DIR}/src/serve/openssl/missing.cpp)
list(REMOVE_ITEM dragoman_openssl ${dragoman_secrets})
if(DRAGOMAN_SERVER AND OPENSSL_FOUND)
  set(dragoman_secrets ${dragoman_openssl})
  target_link_libraries(dragoman_serve PRIVATE OpenSSL::Crypto)
endif()
target_sources(dragoman_serve PRIVATE ${dragoman_secrets})

# Detecting languages: src/serve/fasttext/ with fastText, or only its missing.cpp.
set(dragoman_fasttext ${PROJECT_SOURCE_DIR}/src/serve/fasttext/missing.cpp)
if(DRAGOMAN_SERVER)
  pkg_check_modules(fasttext IMPORTED_TARGET fasttext)
  if(fasttext_FOUND)
    set(dragoman_fasttext ${PROJECT_SOURCE_DIR}/src/serve/fasttext/model.cpp)
    target_link_libraries(dragoman_serve PRIVATE PkgConfig::fasttext)
  endif()
endif()
target_sources(dragoman_serve PRIVATE ${dragoman_fasttext})
