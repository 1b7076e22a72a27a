#include "data/align/symmetrize.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

// A set of links, with what each word has.
class LinkGrid {
 public:
  LinkGrid(size_t sources, size_t targets)
      : sources_(sources), targets_(targets), links_(sources * targets), source_(sources), target_(targets) {}

  bool has(Link link) const { return inside(link) && links_[place(link)]; }
  bool inside(Link link) const {
    return link.source >= 0 && link.target >= 0 && static_cast<size_t>(link.source) < sources_ &&
           static_cast<size_t>(link.target) < targets_;
  }
  bool source_free(Link link) const { return !source_[static_cast<size_t>(link.source)]; }
  bool target_free(Link link) const { return !target_[static_cast<size_t>(link.target)]; }
  void add(Link link) {
    links_[place(link)] = true;
    source_[static_cast<size_t>(link.source)] = true;
    target_[static_cast<size_t>(link.target)] = true;
  }

 private:
  size_t place(Link link) const {
    return static_cast<size_t>(link.target) * sources_ + static_cast<size_t>(link.source);
  }

  size_t sources_, targets_;
  std::vector<bool> links_, source_, target_;
};

constexpr Link neighbours[] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

// Adds the union's links beside links, until none is left, where one of the two words has no link yet.
void grow(LinkGrid& chosen, std::vector<Link>& links, const LinkGrid& both) {
  for (size_t i = 0; i < links.size(); ++i) {
    for (const Link step : neighbours) {
      const Link beside = {links[i].source + step.source, links[i].target + step.target};
      if (!both.has(beside) || chosen.has(beside)) continue;
      if (!chosen.source_free(beside) && !chosen.target_free(beside)) continue;
      chosen.add(beside);
      links.push_back(beside);
    }
  }
}

void add_free(LinkGrid& chosen, std::vector<Link>& links, std::span<const Link> more) {
  for (const Link link : more) {
    if (!chosen.source_free(link) || !chosen.target_free(link)) continue;
    chosen.add(link);
    links.push_back(link);
  }
}

}  // namespace

std::vector<Link> symmetrized(std::span<const Link> forward, std::span<const Link> backward, size_t sources,
                              size_t targets, Symmetrization symmetrization) {
  LinkGrid in_forward(sources, targets), both(sources, targets), chosen(sources, targets);
  std::vector<Link> links;
  for (const Link link : forward) in_forward.add(link), both.add(link);
  for (const Link link : backward) {
    both.add(link);
    if (in_forward.has(link)) links.push_back(link);
  }
  std::ranges::sort(links, {}, by_target);
  for (const Link link : links) chosen.add(link);
  switch (symmetrization) {
    case Symmetrization::intersection:
      break;
    case Symmetrization::forward:
      links.assign(forward.begin(), forward.end());
      break;
    case Symmetrization::backward:
      links.assign(backward.begin(), backward.end());
      break;
    case Symmetrization::unite:
      for (const std::span<const Link> side : {forward, backward}) {
        for (const Link link : side) {
          if (!chosen.has(link)) links.push_back(link);
          chosen.add(link);
        }
      }
      break;
    case Symmetrization::grow_diag:
      grow(chosen, links, both);
      break;
    case Symmetrization::grow_diag_final_and:
      grow(chosen, links, both);
      add_free(chosen, links, forward);
      add_free(chosen, links, backward);
      break;
  }
  std::ranges::sort(links, {}, by_target);
  return links;
}

}  // namespace dragoman::internal
