// Products by cuBLASLt. A context has its own, since an algorithm is looked up at every product.
#pragma once

#include <cublasLt.h>

#include <map>

#include "kernels/cuda/gpu/product_key.h"

namespace dragoman::internal {

class Gpu;

class Products {
 public:
  explicit Products(const Gpu& gpu) : gpu_(gpu) {}
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  // Allocates where a key is seen for the first time, and nothing afterwards.
  void multiply(const Matmul& product);

 private:
  cublasStatus_t run(const Matmul& product, const ProductKey& key, const cublasLtMatmulAlgo_t& algorithm);
  const cublasLtMatmulAlgo_t& algorithm_for(const ProductKey& key);
  bool takes_few(const ProductKey& key, ProductSizes sizes, const void* bias,
                 const cublasLtMatmulAlgo_t& algorithm) const;
  int rank(const ProductKey& key, const ProductSizes& sizes, const void* bias,
           const cublasLtMatmulHeuristicResult_t& result) const;
  cublasLtMatmulAlgo_t choose(const ProductKey& key, const ProductSizes& sizes) const;

  const Gpu& gpu_;
  void* workspace_ = nullptr;
  std::map<ProductKey, cublasLtMatmulAlgo_t> algorithms_;
};

}  // namespace dragoman::internal
