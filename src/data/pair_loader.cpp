#include "data/pair_loader.h"

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

int32_t length_of(size_t pieces, int32_t marks) { return static_cast<int32_t>(pieces) + marks; }

}  // namespace

PairLoader::PairLoader(const PreparedCorpus& corpus, const LoaderSettings& settings)
    : corpus_(corpus), settings_(settings) {
  if (settings.sampling <= 0) return;
  source_sampler_ = std::make_unique<SubwordSampler>(*corpus.vocabularies.source, settings.sampling);
  target_sampler_ = std::make_unique<SubwordSampler>(*corpus.vocabularies.target, settings.sampling);
}

PooledPair PairLoader::measure(PairPlace place, int64_t epoch) {
  if (source_sampler_) {
    load(place, epoch);
    return {place, length_of(source.size(), settings_.source_marks),
            length_of(target.size(), settings_.target_marks)};
  }
  const PairRecord& pair = record(place);
  return {place, length_of(pair.source_length, settings_.source_marks),
          length_of(pair.target_length, settings_.target_marks)};
}

void PairLoader::load(PairPlace place, int64_t epoch) {
  corpus_.shards[place.shard].read(record(place), source, target);
  if (!corpus_.links.empty()) load_links(place);
  if (source_sampler_) sample_all(place, epoch);
}

void PairLoader::load_links(PairPlace place) {
  const Shard& shard = corpus_.links[place.shard];
  std::vector<int32_t> sources, targets;
  shard.read(shard.pairs()[place.record], sources, targets);
  links.clear();
  for (size_t i = 0; i < sources.size(); ++i) {
    links.push_back({.source = sources[i], .target = targets[i]});
    if (sources[i] >= std::ssize(source) || targets[i] >= std::ssize(target))
      throw Error(
          "the links of pair {} go beyond it: remove the folder of the prepared corpus to prepare it again",
          record(place).pair + 1);
  }
}

void PairLoader::sample_all(PairPlace place, int64_t epoch) {
  const uint64_t key =
      mix(mix(mix(settings_.seed, "subwords"), static_cast<uint64_t>(epoch)), record(place).pair);
  std::vector<int32_t> before = source;
  sample(*source_sampler_, mix(key, "source"), source);
  move_links(*corpus_.vocabularies.source, before, source, &Link::source, links);
  before = target;
  sample(*target_sampler_, mix(key, "target"), target);
  move_links(*corpus_.vocabularies.target, before, target, &Link::target, links);
}

// Keeps the usual segmentation if the sampled one would be too long for the model.
void PairLoader::sample(const SubwordSampler& sampler, uint64_t key, std::vector<int32_t>& ids) const {
  Random random(key);
  std::vector<int32_t> other = sampler.sample(ids, random);
  if (static_cast<int64_t>(other.size()) <= settings_.max_length) ids = std::move(other);
}

}  // namespace dragoman::internal
