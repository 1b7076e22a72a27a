// Requests that are all there from the beginning, each as soon as the batch has room for it.
#include <utility>

#include "search/search.h"

namespace dragoman::internal {

std::vector<std::vector<Hypothesis>> search_all(Transformer& model, const PackedSide& sources,
                                                const SearchOptions& options,
                                                const SearchSettings& settings) {
  std::vector<std::vector<Hypothesis>> results(sources.lengths.size(), {Hypothesis{.cut = true}});
  Search search({&model}, settings);
  const int32_t* ids = sources.ids.data();
  for (size_t next = 0; next < results.size() || search.busy();) {
    for (bool more = search.wants_more(); more && next < results.size(); ++next) {
      const int32_t* end = ids + sources.lengths[next];
      SearchRequest request = {.source = {ids, end}, .options = options};
      if (!has_encoder(model.config)) request.prefix = request.source;
      if (!search.fits(request)) break;
      search.add(next, std::move(request));
      ids = end;
    }
    for (SearchResult& result : search.step()) {
      if (!result.failed) results[result.id].clear();
      for (ScoredHypothesis& h : result.found.hypotheses)
        results[result.id].push_back(std::move(h.hypothesis));
    }
  }
  return results;
}

}  // namespace dragoman::internal
