#include "document/segments/separators.h"

#include <algorithm>
#include <array>
#include <optional>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using SeparatorItem = MarkupItem::Kind;

constexpr std::array<std::string_view, 8> separator_characters = {"|", "·", "•", "›", "»", "→", ">", "/"};

class Separators {
 public:
  explicit Separators(const MarkupStretch& stretch) : stretch_(stretch), items_(stretch.items) {}

  std::vector<size_t> find() {
    for (size_t i = 0; i < items_.size(); ++i)
      if (is_separator(i)) candidates_.push_back(i);
    if (candidates_.empty()) return {};
    find_loose_text();
    std::erase_if(candidates_, [&](size_t i) { return depths_[i] > 0 || may_end_quotation(i); });
    const auto is_link_of_chain = [&](std::string_view separator) {
      return std::ranges::any_of(candidates_,
                                 [&](size_t i) { return text(i) == separator && is_between_elements(i); });
    };
    const bool path = is_link_of_chain(">"), list = is_link_of_chain("/");
    std::vector<size_t> found;
    for (const size_t i : candidates_) {
      const bool separates = (text(i) != ">" || path) && (text(i) != "/" || list);
      if (separates && has_element_beside(i)) found.push_back(i);
    }
    return found;
  }

 private:
  std::string_view text(size_t i) const { return text_of(stretch_, items_[i]); }
  bool shows(std::string_view quote) const {
    return stretch_.bytes.find(quote) != std::string::npos || stretch_.shown.find(quote) != std::string::npos;
  }
  bool is_text(size_t i) const {
    return items_[i].kind == SeparatorItem::text || items_[i].kind == SeparatorItem::reference;
  }
  bool is_blank(size_t i) const { return is_text(i) && is_white_space(text(i)); }
  bool is_separator(size_t i) const {
    return is_text(i) && !text(i).empty() && separator_at(text(i)) == text(i).size();
  }

  bool may_end_quotation(size_t i) const {
    return (text(i) == "»" && quotation_) || (text(i) == "›" && single_quotation_);
  }

  // Elements around everything do not count.
  void find_loose_text() {
    size_t first = items_.size(), last = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].kind != SeparatorItem::fixed && (!is_text(i) || is_blank(i))) continue;
      first = std::min(first, i);
      last = i;
    }
    size_t depth = 0;
    loose_before_.push_back(0);
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool opens = items_[i].kind == SeparatorItem::open && items_[i].partner,
                 closes = items_[i].kind == SeparatorItem::close && items_[i].partner;
      const bool around = (opens && i < first && items_[i].partner > last && !items_[i].written) ||
                          (closes && i > last && items_[i].partner < first && !items_[i].written);
      if (closes && !around) --depth;
      depths_.push_back(depth);
      if (opens && !around) ++depth;
      const bool shows = items_[i].kind == SeparatorItem::fixed || (is_text(i) && !is_blank(i));
      loose_before_.push_back(loose_before_.back() + (depth == 0 && shows && !is_separator(i) ? 1 : 0));
    }
  }

  // What is beside a separator, apart from white space.
  enum class Side { nothing, text, element, other };
  Side side(size_t separator, bool right) const {
    bool white = false;
    for (size_t i = separator; right ? ++i < items_.size() : i-- > 0;) {
      if (is_blank(i)) {
        white |= !text(i).empty();
        continue;
      }
      const TextSpan words = trimmed(text(i));
      if (is_text(i)) {
        const bool apart = white || (right ? words.begin > 0 : words.end < text(i).size());
        return apart ? Side::text : Side::other;
      }
      if (items_[i].kind == (right ? SeparatorItem::open : SeparatorItem::close) && items_[i].partner)
        return Side::element;
      return items_[i].kind == SeparatorItem::point ? Side::text : Side::other;
    }
    return Side::nothing;
  }

  bool has_element_beside(size_t i) const {
    const Side left = side(i, false), right = side(i, true);
    return (left == Side::element && (right == Side::text || right == Side::element)) ||
           (left == Side::text && right == Side::element);
  }

  // Between elements, with nothing else on one side up to the next separator.
  bool is_between_elements(size_t i) const {
    if (side(i, false) != Side::element || side(i, true) != Side::element) return false;
    const auto next = std::ranges::upper_bound(candidates_, i);
    const auto here = next - 1;
    const size_t begin = here == candidates_.begin() ? 0 : *(here - 1);
    const size_t end = next == candidates_.end() ? items_.size() : *next;
    return loose_before_[i] == loose_before_[begin] || loose_before_[end] == loose_before_[i];
  }

  const MarkupStretch& stretch_;
  const std::vector<MarkupItem>& items_;
  const bool quotation_ = shows("«"), single_quotation_ = shows("‹");
  std::vector<size_t> candidates_;
  std::vector<size_t> depths_;        // of each item: the elements that it is in
  std::vector<size_t> loose_before_;  // how many texts outside elements are before it
};

}  // namespace

size_t separator_at(std::string_view text) {
  for (const std::string_view separator : separator_characters)
    if (text.starts_with(separator)) return separator.size();
  return 0;
}

std::vector<size_t> separators_in(const MarkupStretch& stretch) { return Separators(stretch).find(); }

}  // namespace dragoman::internal
