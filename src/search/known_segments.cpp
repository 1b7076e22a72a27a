#include "search/known_segments.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/folding.h"

namespace dragoman::internal {
namespace {

std::string_view text_of(const Segment& segment, std::string_view line) {
  const auto [begin, end] = extent_of(segment);
  return begin < end ? line.substr(begin, end - begin) : std::string_view();
}

// None where the model cannot read it as a whole.
std::optional<Neighbour> neighbour_of(const KnownSegment& known, const SavedModel& model,
                                      const Direction& direction) {
  const SourceReader& reader = model.readers[0];
  Neighbour neighbour = {direction.folded ? encode_folded(known.source, *reader.vocabulary).ids
                                          : reader.vocabulary->encode(known.source),
                         model.vocabularies.target->encode(known.target)};
  const int64_t longest = model.max_positions - static_cast<int64_t>(direction.start.size());
  if (neighbour.source.empty() || neighbour.target.empty() ||
      std::ssize(neighbour.source) > reader.longest_between(direction.sources[0]) ||
      std::ssize(neighbour.target) > longest)
    return std::nullopt;
  direction.sources[0].add_to(neighbour.source);
  return neighbour;
}

constexpr int64_t enough_subwords = 2;

// Whether a source has enough of the segment's subwords that no neighbour before it had, which are then no longer
// missing: one that only says the same again costs time.
bool says_more(const std::vector<int32_t>& source, int64_t enough, std::vector<int32_t>& missing) {
  std::vector<int32_t> left;
  std::ranges::copy_if(missing, std::back_inserter(left),
                       [&](int32_t id) { return std::ranges::find(source, id) == source.end(); });
  if (std::ssize(missing) - std::ssize(left) < enough) return false;
  missing = std::move(left);
  return true;
}

void add_once(KnownSegment segment, std::vector<KnownSegment>& used) {
  if (std::ranges::find(used, segment) == used.end()) used.push_back(std::move(segment));
}

}  // namespace

KnownOfLine find_known(const LookUpSegments& look_up, const SavedModel& model, const Direction& direction,
                       const SearchOptions& options, std::string_view line, bool take_exact,
                       std::vector<Segment>& segments) {
  KnownOfLine known;
  std::vector<KnownSegment> of_line = look_up(line, options);
  if (take_exact && !of_line.empty() && of_line[0].exact) {
    segments = {Segment{.ids = {}, .marks = {}, .spans = {}, .known = of_line[0].target}};
    of_line.resize(1);
    return {.neighbours = {{}}, .used = std::move(of_line)};
  }
  for (Segment& segment : segments) {
    std::vector<KnownSegment> similar =
        segments.size() == 1 ? std::move(of_line) : look_up(text_of(segment, line), options);
    std::vector<Neighbour>& neighbours = known.neighbours.emplace_back();
    if (take_exact && !similar.empty() && similar[0].exact) {
      segment.known = similar[0].target;
      add_once(std::move(similar[0]), known.used);
      continue;
    }
    std::vector<int32_t> missing(segment.ids);
    for (KnownSegment& one : similar) {
      if (std::ssize(neighbours) == options.memory_segments) break;
      std::optional<Neighbour> neighbour = neighbour_of(one, model, direction);
      if (!neighbour || !says_more(neighbour->source, neighbours.empty() ? 1 : enough_subwords, missing))
        continue;
      neighbours.push_back(std::move(*neighbour));
      add_once(std::move(one), known.used);
    }
  }
  return known;
}

}  // namespace dragoman::internal
