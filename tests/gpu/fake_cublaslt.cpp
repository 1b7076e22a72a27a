// cuBLASLt, of a GPU that tests make up: products as its documentation defines them, by columns, one element after the
// other. Its heuristic offers what the plug-in must not take before what it may.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>

#include "gpu/fake_gpu.h"

using namespace dragoman::internal;

namespace {

// What the heuristic offers, the best first.
struct Algorithm {
  int id;
  uint32_t split, reduction;
  size_t workspace;
};
constexpr Algorithm algorithms[] = {
    {0, 4, CUBLASLT_REDUCTION_SCHEME_NONE, 0},
    {1, 1, CUBLASLT_REDUCTION_SCHEME_INPLACE, 0},
    {4, 4, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 4096},
    {2, 1, CUBLASLT_REDUCTION_SCHEME_NONE, 4096},
    {3, 1, CUBLASLT_REDUCTION_SCHEME_NONE, 0},
};

// What this library keeps in a descriptor's memory.
template <class Content, class Descriptor>
Content content(const Descriptor* descriptor) {
  static_assert(sizeof(Content) <= sizeof(*descriptor));
  Content content;
  std::memcpy(&content, descriptor->data, sizeof(content));
  return content;
}

template <class Content, class Descriptor>
cublasStatus_t keep(Descriptor* descriptor, const Content& content) {
  static_assert(sizeof(Content) <= sizeof(*descriptor));
  std::memcpy(descriptor->data, &content, sizeof(content));
  return CUBLAS_STATUS_SUCCESS;
}

struct Preferences {
  uint32_t a_alignment, b_alignment, c_alignment, reductions;
};

template <class Value>
void take(Value& value, const void* buffer, size_t size) {
  if (size == sizeof(value)) std::memcpy(&value, buffer, size);
}

float element(const void* data, cudaDataType type, int64_t index) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[index];
  const uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t*>(data)[index]) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

struct Operand {
  const void* data;
  FakeLayout layout;
  bool transposed;

  float at(uint64_t row, uint64_t column) const {
    if (transposed) std::swap(row, column);
    return element(data, layout.type,
                   static_cast<int64_t>(row) + static_cast<int64_t>(column) * layout.stride);
  }
};

// Of numbers that are exact in bf16, or in floats.
void set_element(void* data, cudaDataType type, int64_t index, float value) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(data)[index] = value;
    return;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  static_cast<uint16_t*>(data)[index] = static_cast<uint16_t>(bits >> 16);
}

void multiply(const FakeProduct& product, Operand a, Operand b, float before, void* d, FakeLayout c) {
  const uint64_t inner = a.transposed ? a.layout.rows : a.layout.columns;
  for (uint64_t column = 0; column < c.columns; ++column) {
    for (uint64_t row = 0; row < c.rows; ++row) {
      const int64_t place = static_cast<int64_t>(row) + static_cast<int64_t>(column) * c.stride;
      float sum = before == 0 ? 0 : before * element(d, c.type, place);
      for (uint64_t k = 0; k < inner; ++k) sum += a.at(row, k) * b.at(k, column);
      if ((product.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
        sum += element(product.bias, c.type, static_cast<int64_t>(row));
      if ((product.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) sum = std::max(sum, 0.0F);
      set_element(d, c.type, place, sum);
    }
  }
}

bool refuses(const cublasLtMatmulAlgo_t* algo, cublasLtMatrixLayout_t c) {
  const int id = content<Algorithm>(algo).id;
  return (id == 2 || id == 3) && content<FakeLayout>(c).columns <= fake_gpu().refused_rows[id - 2];
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&fake_gpu());
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion() { return 130102; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "fake status"; }

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t stride) {
  if (rows == 0 || columns == 0 || stride < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  return keep(layout, FakeLayout{type, rows, columns, stride});
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description, size_t,
                                               cublasComputeType_t computing, cudaDataType_t) {
  return keep(description, FakeProduct{computing, false, false, CUBLASLT_EPILOGUE_DEFAULT, nullptr});
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* buffer,
                                              size_t size) {
  auto product = content<FakeProduct>(description);
  int32_t operation = CUBLAS_OP_N;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      take(operation, buffer, size);
      product.a_transposed = operation == CUBLAS_OP_T;
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      take(operation, buffer, size);
      product.b_transposed = operation == CUBLAS_OP_T;
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      take(product.epilogue, buffer, size);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      take(product.bias, buffer, size);
      break;
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
  return keep(description, product);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t) {
  *preference = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* buffer, size_t size) {
  uint32_t value = 0;
  take(value, buffer, size);
  auto preferences = content<Preferences>(preference);
  if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) preferences.a_alignment = value;
  if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES) preferences.b_alignment = value;
  if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES) preferences.c_alignment = value;
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) preferences.reductions = value;
  return keep(preference, preferences);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* count) {
  const auto wishes = content<Preferences>(preference);
  fake_gpu().questions.push_back({content<FakeProduct>(description), content<FakeLayout>(a),
                                  content<FakeLayout>(b), content<FakeLayout>(c), wishes.a_alignment,
                                  wishes.b_alignment, wishes.c_alignment, wishes.reductions});
  *count = 0;
  for (const Algorithm& algorithm : algorithms) {
    if (*count == wanted || (fake_gpu().only_splits && algorithm.id > 1)) break;
    cublasLtMatmulHeuristicResult_t& result = results[(*count)++];
    result = {};
    keep(&result.algo, algorithm);
    result.workspaceSize = algorithm.workspace;
    result.state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t c,
                                       cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t*) {
  return refuses(algo, c) ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* buffer, size_t, size_t* written) {
  const auto algorithm = content<Algorithm>(algo);
  const uint32_t value = attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? algorithm.split : algorithm.reduction;
  std::memcpy(buffer, &value, sizeof(value));
  *written = sizeof(value);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void*,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void*, size_t, cudaStream_t) {
  const auto product = content<FakeProduct>(description);
  const Operand left = {a, content<FakeLayout>(a_layout), product.a_transposed};
  const Operand right = {b, content<FakeLayout>(b_layout), product.b_transposed};
  const float before = *static_cast<const float*>(beta);
  const auto layout = content<FakeLayout>(d_layout);
  if (*static_cast<const float*>(alpha) != 1) return CUBLAS_STATUS_INVALID_VALUE;
  if (refuses(algo, d_layout)) return CUBLAS_STATUS_NOT_SUPPORTED;
  fake_gpu().algorithms.push_back(content<Algorithm>(algo).id);
  fake_gpu().stream.add([=] { multiply(product, left, right, before, d, layout); });
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
