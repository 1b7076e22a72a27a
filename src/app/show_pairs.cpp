#include "app/show_pairs.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "text/columns.h"

namespace dragoman::internal {
namespace {

constexpr int64_t margin = 10;

// Rows of the same length, set in columns and broken together where a line is full.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;

  int64_t column_width(size_t column) const {
    int64_t width = 0;
    for (const auto& row : rows) width = std::max(width, columns_of(row[column]));
    return width + 2;
  }

  void print(int64_t width, std::ostream& out) const {
    for (size_t begin = 0, end = 0; begin < rows[0].size(); begin = end) {
      int64_t used = margin;
      while (end < rows[0].size() && (end == begin || used + column_width(end) <= width))
        used += column_width(end++);
      for (size_t row = 0; row < rows.size(); ++row) {
        std::string line = padded_to_columns("  " + names[row], margin);
        for (size_t column = begin; column < end; ++column)
          line += padded_to_columns(rows[row][column], column_width(column));
        out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
      }
    }
  }
};

std::vector<std::string> pieces_of(const Vocabulary& vocabulary, const int32_t* ids, int64_t count) {
  std::vector<std::string> pieces;
  for (int64_t i = 0; i < count; ++i) pieces.push_back(vocabulary.piece(ids[i]));
  return pieces;
}

int64_t sum_before(const std::vector<int32_t>& lengths, size_t number) {
  int64_t sum = 0;
  for (size_t i = 0; i < number; ++i) sum += lengths[i];
  return sum;
}

}  // namespace

void show_pair(const Batch& batch, size_t number, const Vocabularies& vocabularies, int64_t width,
               std::ostream& out) {
  const int64_t source_begin = sum_before(batch.source.lengths, number);
  const int64_t target_begin = sum_before(batch.target_input.lengths, number);
  const int64_t target_length = batch.target_input.lengths[number];
  out << fmt::format("\npair {}\n", batch.pairs[number]);
  const Table source = {{"source"},
                        {pieces_of(*vocabularies.source, batch.source.ids.data() + source_begin,
                                   batch.source.lengths[number])}};
  const Table target = {
      {"input", "target"},
      {pieces_of(*vocabularies.target, batch.target_input.ids.data() + target_begin, target_length),
       pieces_of(*vocabularies.target, batch.targets.data() + target_begin, target_length)}};
  source.print(width, out);
  target.print(width, out);
}

}  // namespace dragoman::internal
