#include "train/muon.h"

#include <cmath>
#include <utility>

#include "ops/products.h"

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

Matrix part_of(const Matrix& m, const Submatrices& all, int64_t down, int64_t across) {
  const int64_t rows = m.rows / all.down, columns = m.columns / all.across;
  return {m.data + down * rows * m.stride + across * columns, rows, columns, m.stride};
}

// Square matrices of one size, one below the other.
class Squares {
 public:
  Squares(Pool& pool, size_t count, int64_t size) : all_(pool, static_cast<int64_t>(count) * size, size) {}

  Matrix operator[](size_t i) const {
    const int64_t size = all_.columns();
    return {all_.data() + static_cast<int64_t>(i) * size * size, size, size, size};
  }
  const Tensor& all() const { return all_; }

 private:
  Tensor all_;
};

}  // namespace

bool is_moved_by_muon(const Parameter& parameter) { return parameter.role == Role::weight; }

Muon::Muon(Device& device, Parameters& parameters, const MuonOptions& options, Precision precision)
    : device_(device),
      parameters_(parameters),
      options_(options),
      // On a GPU, where others round once, small products are as fast in floats.
      precision_(rounds_once(device, precision) ? Precision::fp32 : precision) {
  for (const Parameter& p : parameters.list()) {
    if (!is_moved_by_muon(p)) continue;
    const Matrix weight = p.value.matrix();
    const Matrix gradient = {parameters.gradients().data() + p.offset, weight.rows, weight.columns,
                             weight.columns};
    for (int64_t down = 0; down < p.submatrices.down; ++down)
      for (int64_t across = 0; across < p.submatrices.across; ++across)
        add({part_of(weight, p.submatrices, down, across), part_of(gradient, p.submatrices, down, across)});
  }
}

void Muon::add(const Block& block) {
  constexpr int64_t most = 1 << 18;  // floats of a group's squares: they stay in the cache
  const auto fits = [&](const std::vector<Block>& group) {
    const auto count = static_cast<int64_t>(group.size()) + 1;
    return group.front().is_like(block) && count * block.shorter() * block.shorter() <= most;
  };
  if (groups_.empty() || !fits(groups_.back())) groups_.emplace_back();
  groups_.back().push_back(block);
}

void Muon::update(double learning_rate, std::span<float> momentum) {
  add_momentum(momentum);
  for (const std::vector<Block>& group : groups_) move(group, options_.rate * learning_rate);
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

// A direction X, of more columns than rows, is to become X / ‖XXᵀ‖^½ and then, for one polynomial after another,
// a·X + b·(XXᵀ)X + c·(XXᵀ)²X, which keeps its singular vectors and moves their singular values toward 1. Only A = XXᵀ,
// which is the smaller, goes through the polynomials P: A ← PAP, and X is multiplied with their product Q at the end.
void Muon::move(const std::vector<Block>& blocks, double learning_rate) {
  const int64_t size = blocks.front().shorter(), longer = blocks.front().longer();
  const auto squares = [&] { return Squares(device_.pool, blocks.size(), size); };
  Squares a = squares(), aa = squares(), p = squares(), q = squares(), product = squares();
  const auto for_each_block = [&](const auto& product_of) {
    products_.clear();
    for (size_t i = 0; i < blocks.size(); ++i) products_.push_back(product_of(i));
    multiply_each(device_, precision_, products_);
  };
  const auto multiply = [&](const Squares& one, const Squares& other, const Squares& out) {
    for_each_block([&](size_t i) { return SmallProduct{one[i], other[i], out[i]}; });
  };
  for_each_block([&](size_t i) {
    const ConstMatrix x = blocks[i].direction;
    return blocks[i].is_wide() ? SmallProduct{x, x.transposed(), a[i]}
                               : SmallProduct{x.transposed(), x, a[i]};
  });
  const double distance = learning_rate * root_mean_square * std::sqrt(static_cast<double>(longer));
  for (const Polynomial& polynomial : polynomials) {
    const bool is_first = &polynomial == std::begin(polynomials),
               is_last = &polynomial == std::end(polynomials) - 1;
    multiply(a, a, aa);
    device_.kernels.polynomial(device_.context, (is_last ? -distance : 1) * polynomial, a.all(), aa.all(),
                               p.all().matrix());
    if (is_first) {
      device_.memory.copy(q.all().data(), p.all().data(),
                          sizeof(float) * blocks.size() * static_cast<size_t>(size * size));
    } else {
      multiply(p, q, product);
      std::swap(q, product);
    }
    if (is_last) break;
    multiply(p, a, product);
    multiply(product, p, a);
  }
  for_each_block([&](size_t i) {
    const auto& [weight, x] = blocks[i];
    return blocks[i].is_wide() ? SmallProduct{q[i], x, weight, /*accumulate=*/true}
                               : SmallProduct{x, q[i], weight, /*accumulate=*/true};
  });
}

}  // namespace dragoman::internal
