#include "data/links.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"
#include "data/align/aligner.h"

namespace dragoman::internal {
namespace {

constexpr size_t pairs_of_link_block = 8192, pairs_of_link_task = 64;

// Learning goes over its pairs ten times. Pieces are few and frequent, so that a tenth of a large corpus tells as much.
size_t pairs_to_learn_from(size_t all) { return std::clamp<size_t>(all / 10, 50'000, 1'000'000); }

std::string links_path(const std::string& folder, size_t number) {
  return (std::filesystem::path(folder) / fmt::format("links-{:03}", number)).string();
}

uint64_t fingerprint_of_links(const LinkSettings& settings) { return mix(settings.fingerprint, "links"); }

// Pairs by their number, through all shards one after the other.
PairsToAlign all_pairs(const std::vector<Shard>& shards, const VocabularySizes& sizes) {
  std::vector<size_t> ends;
  for (const Shard& shard : shards) ends.push_back((ends.empty() ? 0 : ends.back()) + shard.pairs().size());
  const size_t count = ends.back();
  const auto read = [&shards, ends = std::move(ends)](size_t pair, std::vector<int32_t>& source,
                                                      std::vector<int32_t>& target) {
    const auto number = static_cast<size_t>(std::ranges::upper_bound(ends, pair) - ends.begin());
    const Shard& shard = shards[number];
    shard.read(shard.pairs()[pair - (number == 0 ? 0 : ends[number - 1])], source, target);
  };
  return {.count = count,
          .read = read,
          .source_words = static_cast<int32_t>(sizes.source),
          .target_words = static_cast<int32_t>(sizes.target)};
}

// The links of consecutive pairs of a shard, found by several threads.
struct LinkBlock {
  const AlignmentModel& model;
  const Shard& shard;
  std::span<const PairRecord> pairs = {};
  std::vector<std::vector<Link>> links = std::vector<std::vector<Link>>(pairs_of_link_block);

  void find(ThreadPool& threads, size_t first) {
    pairs = shard.pairs().subspan(first, std::min(pairs_of_link_block, shard.pairs().size() - first));
    const size_t tasks = (pairs.size() + pairs_of_link_task - 1) / pairs_of_link_task;
    threads.for_each(tasks, [this](size_t task) { find_some(task * pairs_of_link_task); });
  }
  void find_some(size_t first) {
    std::vector<int32_t> source, target;
    for (size_t i = first; i < std::min(pairs.size(), first + pairs_of_link_task); ++i) {
      shard.read(pairs[i], source, target);
      links[i] = model.links(source, target);
    }
  }
};

int64_t write_links_of(LinkBlock block, ThreadPool& threads, ShardWriter writer, const Preparation& work) {
  int64_t count = 0;
  std::vector<int32_t> sources, targets;
  for (size_t first = 0; first < block.shard.pairs().size(); first += pairs_of_link_block) {
    work.stop_if_asked();
    block.find(threads, first);
    for (size_t i = 0; i < block.pairs.size(); ++i) {
      sources.clear();
      targets.clear();
      for (const Link& link : block.links[i]) {
        sources.push_back(link.source);
        targets.push_back(link.target);
      }
      writer.add(block.pairs[i].pair, sources, targets);
      count += std::ssize(sources);
    }
  }
  writer.finish();
  block.shard.release();
  return count;
}

}  // namespace

int64_t write_links(int64_t shard_count, const VocabularySizes& sizes, const std::string& folder,
                    const LinkSettings& settings, Preparation& work) {
  std::vector<Shard> shards;
  for (int64_t i = 0; i < shard_count; ++i)
    shards.emplace_back(shard_path(folder, i), settings.fingerprint, sizes);
  work.status.show("aligning", -1);
  const PairsToAlign pairs = all_pairs(shards, sizes);
  const AlignmentModel model =
      learn_alignment(pairs, {.max_pairs = pairs_to_learn_from(pairs.count), .threads = settings.threads});
  work.stop_if_asked();
  ThreadPool threads(settings.threads);
  int64_t count = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    ShardWriter writer(links_path(folder, i), settings.max_length <= (1 << 16) ? 2 : 4,
                       fingerprint_of_links(settings));
    count += write_links_of({.model = model, .shard = shards[i]}, threads, std::move(writer), work);
  }
  work.status.clear();
  return count;
}

std::vector<Shard> open_links(const std::vector<Shard>& shards, const std::string& folder,
                              const LinkSettings& settings) {
  std::vector<Shard> links;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string path = links_path(folder, i);
    links.emplace_back(path, fingerprint_of_links(settings),
                       VocabularySizes{settings.max_length, settings.max_length});
    const auto belongs = [](const PairRecord& a, const PairRecord& b) {
      return a.pair == b.pair && a.source_length == a.target_length;
    };
    if (!std::ranges::equal(links[i].pairs(), shards[i].pairs(), belongs))
      throw Error("{} does not belong to the shard beside it: remove its folder to prepare the corpus again",
                  path);
  }
  return links;
}

std::vector<TextSpan> spans_of_pieces(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<TextSpan> spans;
  size_t end = 0;
  for (const int32_t id : ids) {
    const size_t begin = end;
    end += vocabulary.piece(id).size();
    spans.push_back({begin, end});
  }
  return spans;
}

void move_links(std::span<const TextSpan> before, std::span<const TextSpan> after, int32_t Link::*side,
                std::vector<Link>& links) {
  std::vector<Link> moved;
  for (Link link : links) {
    const TextSpan old = before[static_cast<size_t>(link.*side)];
    const auto first = std::ranges::upper_bound(after, old.begin, {}, &TextSpan::end);
    for (auto piece = first; piece != after.end() && piece->begin < old.end; ++piece) {
      link.*side = static_cast<int32_t>(piece - after.begin());
      moved.push_back(link);
    }
  }
  std::ranges::sort(moved, {}, by_target);
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  links = std::move(moved);
}

}  // namespace dragoman::internal
