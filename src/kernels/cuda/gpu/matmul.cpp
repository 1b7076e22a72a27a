#include "kernels/cuda/gpu/matmul.h"

#include <array>
#include <string>

#include "kernels/cuda/gpu/fail.h"
#include "kernels/cuda/gpu/gpu.h"

namespace dragoman::internal {
namespace {

constexpr size_t workspace_size = size_t{32} << 20;

std::string words_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::fp32:
      return "fp32";
    case Arithmetic::tf32:
      return "tf32";
    case Arithmetic::bf16:
      return "bf16";
  }
  return "";
}

std::string words_of(const ProductKey& key, int64_t rows, int64_t inner) {
  const auto size = [](int64_t a, int64_t b) { return std::to_string(a) + " x " + std::to_string(b); };
  return "a product of " + size(rows, inner) + " and " + size(inner, key.columns) + " in " +
         words_of(key.arithmetic);
}

void must_succeed(cublasStatus_t status, const char* doing) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(std::string("cuBLASLt failed at ") + doing + ": " + cublasLtGetStatusString(status));
}

// All that cuBLASLt is told of a product. It knows matrices by columns: in its eyes our c = a·b, by rows, is
// cᵀ = bᵀ·aᵀ, so that its A is our b, its B our a, and its rows our columns. The descriptors are plain memory.
struct Description {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t a, b, c;
};

ProductSizes sizes_of(const Matmul& product) {
  return {rows_of(product), inner_of(product), columns_of(product),
          product.a.stride, product.b.stride,  product.c.stride};
}

void set(Description& description, cublasLtMatmulDescAttributes_t attribute, const auto& value) {
  must_succeed(cublasLtMatmulDescSetAttribute(&description.operation, attribute, &value, sizeof(value)),
               "describing a product");
}

cublasLtEpilogue_t epilogue_of(const ProductKey& key) {
  if (key.bias) return key.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return key.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

// An operand that has rows and columns before it is transposed.
void describe_operand(cublasLtMatrixLayoutOpaque_t& layout, const ProductKey& key, int64_t rows,
                      int64_t columns, bool transposed, int64_t stride) {
  const cudaDataType type = key.arithmetic == Arithmetic::bf16 ? CUDA_R_16BF : CUDA_R_32F;
  if (transposed) std::swap(rows, columns);
  must_succeed(cublasLtMatrixLayoutInit(&layout, type, static_cast<uint64_t>(columns),
                                        static_cast<uint64_t>(rows), stride),
               "describing an operand");
}

Description describe(const ProductKey& key, const ProductSizes& sizes, const void* bias) {
  Description description;
  const cublasComputeType_t computing =
      key.arithmetic == Arithmetic::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  must_succeed(cublasLtMatmulDescInit(&description.operation, computing, CUDA_R_32F), "describing a product");
  set(description, CUBLASLT_MATMUL_DESC_TRANSA, key.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_TRANSB, key.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(key));
  if (key.bias) set(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  describe_operand(description.a, key, sizes.rows, sizes.inner, key.a_transposed, sizes.a_stride);
  describe_operand(description.b, key, sizes.inner, sizes.columns, key.b_transposed, sizes.b_stride);
  const cudaDataType result = key.in_bf16 ? CUDA_R_16BF : CUDA_R_32F;
  must_succeed(cublasLtMatrixLayoutInit(&description.c, result, static_cast<uint64_t>(sizes.columns),
                                        static_cast<uint64_t>(sizes.rows), sizes.c_stride),
               "describing a result");
  return description;
}

class Preference {
 public:
  explicit Preference(const ProductKey& key) {
    must_succeed(cublasLtMatmulPreferenceInit(&preference_), "its preferences");
    // cuBLASLt's A is our b.
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<uint32_t>(key.b_alignment));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(key.a_alignment));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<uint32_t>(key.c_alignment));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<uint32_t>(key.c_alignment));
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<uint32_t>(may_split(key) ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                             : CUBLASLT_REDUCTION_SCHEME_NONE));
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspace_size));
  }
  cublasLtMatmulPreference_t get() { return &preference_; }

 private:
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    must_succeed(cublasLtMatmulPreferenceSetAttribute(&preference_, attribute, &value, sizeof(value)),
                 "its preferences");
  }

  cublasLtMatmulPreferenceOpaque_t preference_;
};

uint32_t configuration(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t what) {
  uint32_t value = 0;
  size_t written = 0;
  must_succeed(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, what, &value, sizeof(value), &written),
               "describing an algorithm");
  return value;
}

// A sum in one piece; or, where it may be split, in pieces that are stored and added in their order.
bool keeps_order(const ProductKey& key, const cublasLtMatmulAlgo_t& algorithm) {
  const uint32_t parts = configuration(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
                 reduction = configuration(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
  if (parts <= 1 && reduction == CUBLASLT_REDUCTION_SCHEME_NONE) return true;
  return may_split(key) && reduction == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

void* result_of(const Matrix& c) { return in_bf16(c) ? static_cast<void*>(c.rounded) : c.data; }

void clear(const Gpu& gpu, const Matrix& c) {
  const auto element = static_cast<size_t>(result_size(in_bf16(c)));
  gpu.check(
      cudaMemset2DAsync(result_of(c), static_cast<size_t>(c.stride) * element, 0,
                        static_cast<size_t>(c.columns) * element, static_cast<size_t>(c.rows), gpu.stream()),
      "a product");
}

ProductSizes usual_sizes(const ProductKey& key) {
  const int64_t size = operand_size(key.arithmetic);
  const int64_t c_size = result_size(key.in_bf16);
  return {key.rows,
          key.inner,
          key.columns,
          usual_stride(key.a_transposed ? key.rows : key.inner, size, key.a_alignment),
          usual_stride(key.b_transposed ? key.inner : key.columns, size, key.b_alignment),
          usual_stride(key.columns, c_size, key.c_alignment)};
}

}  // namespace

Products::~Products() { gpu_.free(workspace_); }

// Whether an algorithm that is chosen for the usual number of rows computes a single one, too.
bool Products::takes_few(const ProductKey& key, ProductSizes sizes, const void* bias,
                         const cublasLtMatmulAlgo_t& algorithm) const {
  if (may_split(key)) return true;
  sizes.rows = 1;
  Description few = describe(key, sizes, bias);
  cublasLtMatmulHeuristicResult_t result;
  return cublasLtMatmulAlgoCheck(gpu_.products(), &few.operation, &few.b, &few.a, &few.c, &few.c, &algorithm,
                                 &result) == CUBLAS_STATUS_SUCCESS;
}

// How well an algorithm suits; 0: not at all. The best computes few rows, too, and, where no sum may be split, needs no
// workspace: then it has nowhere to leave a part of a sum.
int Products::rank(const ProductKey& key, const ProductSizes& sizes, const void* bias,
                   const cublasLtMatmulHeuristicResult_t& result) const {
  if (result.state != CUBLAS_STATUS_SUCCESS || !keeps_order(key, result.algo)) return 0;
  if (!takes_few(key, sizes, bias, result.algo)) return 1;
  return result.workspaceSize == 0 || may_split(key) ? 3 : 2;
}

// Of those that suit best, the fastest, which comes first.
cublasLtMatmulAlgo_t Products::choose(const ProductKey& key, const ProductSizes& sizes) const {
  // For its alignment alone.
  const auto* const bias = reinterpret_cast<const void*>(static_cast<uintptr_t>(key.bias_alignment));
  Description description = describe(key, sizes, bias);
  Preference preference(key);
  std::array<cublasLtMatmulHeuristicResult_t, 32> found;
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      gpu_.products(), &description.operation, &description.b, &description.a, &description.c, &description.c,
      preference.get(), static_cast<int>(found.size()), found.data(), &count);
  const cublasLtMatmulAlgo_t* best = nullptr;
  int best_rank = 0;
  for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < count && best_rank < 3; ++i) {
    const cublasLtMatmulHeuristicResult_t& result = found[static_cast<size_t>(i)];
    if (const int its = rank(key, sizes, bias, result); its > best_rank) {
      best_rank = its;
      best = &result.algo;
    }
  }
  if (best == nullptr)
    fail("cuBLASLt has no algorithm on " + gpu_.name() + " for " + words_of(key, key.rows, key.inner));
  return *best;
}

const cublasLtMatmulAlgo_t& Products::algorithm_for(const ProductKey& key) {
  const auto found = algorithms_.find(key);
  if (found != algorithms_.end()) return found->second;
  if (workspace_ == nullptr) workspace_ = gpu_.allocate(workspace_size);
  return algorithms_.emplace(key, choose(key, usual_sizes(key))).first->second;
}

// Over no inner index, c is 0 or stays as it is; a bias or relu of that is asked for by nobody.
void Products::multiply(const Matmul& product) {
  const ProductSizes sizes = sizes_of(product);
  if (sizes.rows == 0 || sizes.columns == 0) return;
  gpu_.use();
  if (sizes.inner == 0) {
    if (product.bias != nullptr || product.relu) fail("a product over nothing has a bias or an activation");
    if (!product.accumulate) clear(gpu_, product.c);
    return;
  }
  const ProductKey key = key_of(product);
  cublasStatus_t status = run(product, key, algorithm_for(key));
  // What was chosen for a longer sum may refuse this one.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED && may_split(key)) status = run(product, key, choose(key, sizes));
  if (status == CUBLAS_STATUS_SUCCESS) return;
  gpu_.check(cudaPeekAtLastError(), "a product");
  fail(gpu_.name() + " refuses " + words_of(key, sizes.rows, sizes.inner) + ": " +
       cublasLtGetStatusString(status));
}

cublasStatus_t Products::run(const Matmul& product, const ProductKey& key,
                             const cublasLtMatmulAlgo_t& algorithm) {
  Description description = describe(key, sizes_of(product), product.bias);
  const float one = 1, before = product.accumulate ? 1.0F : 0.0F;
  return cublasLtMatmul(gpu_.products(), &description.operation, &one, product.b.data, &description.b,
                        product.a.data, &description.a, &before, result_of(product.c), &description.c,
                        result_of(product.c), &description.c, &algorithm, workspace_, workspace_size,
                        gpu_.stream());
}

}  // namespace dragoman::internal
