#include "adapt/split_text.h"

#include <xxhash.h>

#include <cmath>

#include "base/line_writer.h"

namespace dragoman::internal {

SplitText split_text_in(const std::string& folder) {
  return {.source = folder + "/source",
          .target = folder + "/target",
          .held_out_source = folder + "/held-out.source",
          .held_out_target = folder + "/held-out.target"};
}

bool HeldOut::operator()(std::string_view source) const {
  return std::ldexp(static_cast<double>(XXH3_64bits(source.data(), source.size())), -64) < share_;
}

SplitCounts write_split(const std::vector<TextPair>& pairs,
                        const std::function<bool(std::string_view source)>& is_held_out,
                        const SplitText& files) {
  LineWriter source(files.source), target(files.target), held_out_source(files.held_out_source),
      held_out_target(files.held_out_target);
  for (const TextPair& pair : pairs) {
    const bool held_out = is_held_out(pair.source);
    (held_out ? held_out_source : source).add(pair.source);
    (held_out ? held_out_target : target).add(pair.target);
  }
  for (LineWriter* file : {&source, &target, &held_out_source, &held_out_target}) file->finish();
  return {source.lines(), held_out_source.lines()};
}

std::vector<TextPair> read_held_out(const SplitText& files) {
  return read_pairs({{files.held_out_source, files.held_out_target, TextFormat::text}});
}

}  // namespace dragoman::internal
