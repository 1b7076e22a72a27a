# Training with several processes: src/parallel/mpi/ with MPI, or only missing.cpp, which reports that it is missing.

set(dragoman_mpi missing.cpp)
if(DRAGOMAN_MPI)
  find_package(MPI COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(dragoman_mpi exchange.cpp processes.cpp sum_mover.cpp)
    # Use the C API only: the old C++ bindings are another library.
    target_compile_definitions(dragoman_parallel PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_libraries(dragoman_parallel PRIVATE MPI::MPI_CXX)
  endif()
endif()
list(TRANSFORM dragoman_mpi PREPEND ${PROJECT_SOURCE_DIR}/src/parallel/mpi/)
target_sources(dragoman_parallel PRIVATE ${dragoman_mpi})
