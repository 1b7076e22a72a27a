// All that test_gpu is where the build finds no headers of CUDA's.
#include <gtest/gtest.h>

TEST(CudaTest, NeedsTheHeadersOfCuda) { GTEST_SKIP() << "there are no headers of CUDA's: tools/setup cuda"; }
