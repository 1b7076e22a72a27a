# How several processes train together: src/parallel/mpi/ by MPI, or the one file of it that says that there is none.

set(dragoman_mpi missing.cpp)
if(DRAGOMAN_MPI)
  find_package(MPI COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(dragoman_mpi exchange.cpp processes.cpp sum_mover.cpp)
    # Its header is C's: the old bindings for C++ are another library.
    target_compile_definitions(dragoman_parallel PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_libraries(dragoman_parallel PRIVATE MPI::MPI_CXX)
  endif()
endif()
list(TRANSFORM dragoman_mpi PREPEND ${PROJECT_SOURCE_DIR}/src/parallel/mpi/)
target_sources(dragoman_parallel PRIVATE ${dragoman_mpi})
