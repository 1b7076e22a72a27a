#include "data/pair_loader.h"

#include "base/error.h"
#include "base/random.h"
#include "data/links.h"

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
  size_t source = record(place).source_length, target = record(place).target_length;
  if (source_sampler_ || gets_tags(place, epoch)) {
    load(place, epoch);
    source = pair.source.size();
    target = pair.target.size();
  }
  return {place, length_of(source, settings_.source_marks), length_of(target, settings_.target_marks)};
}

void PairLoader::load(PairPlace place, int64_t epoch) {
  corpus_.shards[place.shard].read(record(place), pair.source, pair.target);
  if (!corpus_.links.empty()) load_links(place);
  if (gets_tags(place, epoch)) {
    Random random(key(place, epoch, "tags"));
    add_linked_tags(corpus_.vocabularies, settings_.max_length, random, pair);
  }
  if (source_sampler_) sample_all(place, epoch);
}

uint64_t PairLoader::key(PairPlace place, int64_t epoch, const char* purpose) const {
  return mix(mix(mix(settings_.seed, purpose), static_cast<uint64_t>(epoch)), record(place).pair);
}

bool PairLoader::gets_tags(PairPlace place, int64_t epoch) const {
  return settings_.tags > 0 && !corpus_.links.empty() &&
         Random(key(place, epoch, "tagged")).uniform() < settings_.tags;
}

void PairLoader::load_links(PairPlace place) {
  const Shard& shard = corpus_.links[place.shard];
  std::vector<int32_t> sources, targets;
  shard.read(shard.pairs()[place.record], sources, targets);
  pair.links.clear();
  for (size_t i = 0; i < sources.size(); ++i) {
    pair.links.push_back({.source = sources[i], .target = targets[i]});
    if (sources[i] >= std::ssize(pair.source) || targets[i] >= std::ssize(pair.target))
      throw Error(
          "the links of pair {} go beyond it: remove the folder of the prepared corpus to prepare it again",
          record(place).pair + 1);
  }
}

void PairLoader::sample_all(PairPlace place, int64_t epoch) {
  const auto sample_side = [&](const SubwordSampler& sampler, const Vocabulary& vocabulary, const char* name,
                               std::vector<int32_t>& ids, int32_t Link::*side) {
    const std::vector<TextSpan> before = spans_of_pieces(vocabulary, ids);
    sample(sampler, mix(key(place, epoch, "subwords"), name), ids);
    move_links(before, spans_of_pieces(vocabulary, ids), side, pair.links);
  };
  const Vocabularies& vocabularies = corpus_.vocabularies;
  sample_side(*source_sampler_, *vocabularies.source, "source", pair.source, &Link::source);
  sample_side(*target_sampler_, *vocabularies.target, "target", pair.target, &Link::target);
}

// Keeps the usual segmentation if the sampled one would be too long for the model.
void PairLoader::sample(const SubwordSampler& sampler, uint64_t key, std::vector<int32_t>& ids) const {
  Random random(key);
  std::vector<int32_t> other = sampler.sample(ids, random);
  if (static_cast<int64_t>(other.size()) <= settings_.max_length) ids = std::move(other);
}

}  // namespace dragoman::internal
