# Reading PDF: src/document/poppler/ with poppler, or only missing.cpp, which reports that it is missing. Poppler's
# licence is the GPL: a program that is built with it may be passed on under the GPL alone.

set(dragoman_poppler missing.cpp)
if(DRAGOMAN_PDF)
  pkg_check_modules(poppler IMPORTED_TARGET poppler-cpp>=0.89)
  if(poppler_FOUND)
    set(dragoman_poppler pages.cpp)
    target_link_libraries(dragoman_document PRIVATE PkgConfig::poppler)
  endif()
endif()
list(TRANSFORM dragoman_poppler PREPEND ${PROJECT_SOURCE_DIR}/src/document/poppler/)
target_sources(dragoman_document PRIVATE ${dragoman_poppler})
