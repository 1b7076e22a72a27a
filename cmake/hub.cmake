# Downloading models: src/hub/curl/ with libcurl and OpenSSL, or only missing.cpp, which reports that they are missing.

set(dragoman_hub missing.cpp)
if(DRAGOMAN_DOWNLOADS)
  find_package(CURL 7.85)
  find_package(OpenSSL COMPONENTS Crypto)
  if(CURL_FOUND AND OPENSSL_FOUND)
    set(dragoman_hub http.cpp sha256.cpp)
    target_link_libraries(dragoman_hub PRIVATE CURL::libcurl OpenSSL::Crypto)
  endif()
endif()
list(TRANSFORM dragoman_hub PREPEND ${PROJECT_SOURCE_DIR}/src/hub/curl/)
target_sources(dragoman_hub PRIVATE ${dragoman_hub})
