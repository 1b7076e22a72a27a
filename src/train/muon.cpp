#include "train/muon.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dragoman::internal {
namespace {

// a·x + b·x³ + c·x⁵ for x in [0.02, 1], then for what that comes to, and so on: those whose result is nearest to 1, 0.9
// to 1.1 (Amsel et al., 2025, say how they are found). Smaller x are multiplied by up to 54.
constexpr Polynomial polynomials[] = {
    {.constant = 7.711F, .linear = -22.1138F, .quadratic = 16.2488F, .of_unit_norm = true},
    {.constant = 3.1929F, .linear = -2.3508F, .quadratic = 0.4794F},
    {.constant = 2.2128F, .linear = -1.5684F, .quadratic = 0.3966F}};

// About the root mean square of Adam's steps at a learning rate of 1 (Liu et al., 2025): one rate does for both.
constexpr double root_mean_square = 0.2;

Polynomial operator*(double factor, Polynomial p) {
  p.constant *= static_cast<float>(factor);
  p.linear *= static_cast<float>(factor);
  p.quadratic *= static_cast<float>(factor);
  return p;
}

Matrix block_of(const Matrix& m, const Submatrices& all, int64_t down, int64_t across) {
  const int64_t rows = m.rows / all.down, columns = m.columns / all.across;
  return {m.data + down * rows * m.stride + across * columns, rows, columns, m.stride};
}

}  // namespace

bool is_moved_by_muon(const Parameter& parameter) { return parameter.role == Role::weight; }

Muon::Muon(Device& device, Parameters& parameters, const MuonOptions& options)
    : device_(device), parameters_(parameters), options_(options) {
  for (const Parameter& p : parameters.list()) {
    if (!is_moved_by_muon(p)) continue;
    const Matrix weight = p.value.matrix();
    const Matrix gradient = {parameters.gradients().data() + p.offset, weight.rows, weight.columns,
                             weight.columns};
    for (int64_t down = 0; down < p.submatrices.down; ++down)
      for (int64_t across = 0; across < p.submatrices.across; ++across)
        blocks_.push_back(
            {block_of(weight, p.submatrices, down, across), block_of(gradient, p.submatrices, down, across)});
  }
}

void Muon::update(double learning_rate, std::span<float> momentum) {
  add_momentum(momentum);
  for (const Block& block : blocks_) move(block, options_.rate * learning_rate);
  parameters_.changed();
}

// m ← β·m + (1 − β)·g, and as Nesterov looks ahead: g ← β·m + (1 − β)·g.
void Muon::add_momentum(std::span<float> momentum) {
  const auto move_toward = device_.kernels.move_toward;
  const float beta = static_cast<float>(options_.momentum);
  for (const Parameter& p : parameters_.list()) {
    if (!is_moved_by_muon(p)) continue;
    float *const gradient = parameters_.gradients().data() + p.offset, *const m = momentum.data() + p.offset;
    move_toward(device_.context, p.size(), 1 - beta, gradient, m);
    move_toward(device_.context, p.size(), beta, m, gradient);
  }
}

// The direction X, of more columns than rows, is to become X / ‖XXᵀ‖^½ and then, for one polynomial after another,
// a·X + b·(XXᵀ)X + c·(XXᵀ)²X, which keeps its singular vectors and moves their singular values toward 1. Only A = XXᵀ,
// which is the smaller, goes through the polynomials P: A ← PAP, and X is multiplied with their product Q at the end.
void Muon::move(const Block& block, double learning_rate) {
  const auto multiply = device_.kernels.products.multiply;
  Context& context = device_.context;
  const ConstMatrix x = block.direction;
  const bool is_wide = x.rows <= x.columns;
  const int64_t size = std::min(x.rows, x.columns), longer = std::max(x.rows, x.columns);
  const auto square = [&] { return Tensor(device_.pool, size, size); };
  Tensor a = square(), aa = square(), p = square(), q = square(), product = square();
  multiply(context, is_wide ? x : x.transposed(), is_wide ? x.transposed() : x, a.matrix(), {});
  const double distance = learning_rate * root_mean_square * std::sqrt(static_cast<double>(longer));
  for (const Polynomial& polynomial : polynomials) {
    const bool is_first = &polynomial == std::begin(polynomials),
               is_last = &polynomial == std::end(polynomials) - 1;
    multiply(context, a, a, aa.matrix(), {});
    device_.kernels.polynomial(context, (is_last ? -distance : 1) * polynomial, a, aa, p.matrix());
    if (is_first) {
      device_.memory.copy(q.data(), p.data(), static_cast<size_t>(size * size) * sizeof(float));
    } else {
      multiply(context, p, q, product.matrix(), {});
      std::swap(q, product);
    }
    if (is_last) break;
    multiply(context, p, a, product.matrix(), {});
    multiply(context, product, p, a.matrix(), {});
  }
  multiply(context, is_wide ? ConstMatrix(q) : x, is_wide ? x : ConstMatrix(q), block.weight,
           {.accumulate = true});
}

}  // namespace dragoman::internal
