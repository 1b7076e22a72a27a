// How a translation treats each element of HTML, and which of them are open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman::internal {

struct HtmlElement {
  enum class Role : uint8_t {
    block,  // ends a segment
    inline_,
    point,  // an inline element that is shown, or not, as a whole; its contents are not translated
    fixed,  // the same, but it shows words
    list,   // the same, but its contents have segments of their own
  };
  enum class Content : uint8_t {
    normal,
    none,
    text,
    raw_text,
    foreign
  };  // text has character references, raw has none

  std::string_view name;
  Role role = Role::inline_;
  Content content = Content::normal;
};

// Unknown elements are inline.
const HtmlElement& html_element(std::string_view name);

// How text is treated within an element.
struct HtmlState {
  bool untouched = false, foreign = false, lines = false;  // lines: each is a segment

  bool operator==(const HtmlState&) const = default;
};

struct OpenElement {
  uint32_t name = 0;  // a number
  HtmlState state = {};
  bool scope = false;   // all elements inside end with it
  bool nested = false;  // the segments inside are nested in a SegmentBuilder
  bool closed = false;  // but not what was opened after it
  bool shows = false;   // it shows words
};

// The elements that are open, as browsers see it where end tags are left out. All in constant time per tag.
class OpenElements {
 public:
  OpenElements() { elements_.emplace_back(); }

  // Ends the elements that such a start tag ends, then calls `ended` for each.
  template <typename Ended>
  void end_implied(std::string_view name, const Ended& ended) {
    for (size_t keep = kept_before(name); elements_.size() > keep;) pop(ended);
  }

  void push(std::string_view name, OpenElement element);

  // Calls `ended` for each element that ends with such an end tag, and with it whether the tag is its own. False: none
  // of this name is open.
  template <typename Ended>
  bool end(std::string_view name, const Ended& ended) {
    const size_t found = partner(name);
    if (found == 0) return false;
    if (!elements_[found].scope && html_element(name).role != HtmlElement::Role::block) {
      elements_[found].closed = true;
      positions_[elements_[found].name].pop_back();
    } else {
      while (elements_.size() > found) pop(ended, elements_.size() == found + 1);
    }
    while (elements_.back().closed) pop(ended);
    return true;
  }

  template <typename Ended>
  void end_all(const Ended& ended) {
    while (elements_.size() > 1) pop(ended);
  }

  const HtmlState& state() const { return elements_.back().state; }
  size_t depth() const { return elements_.size(); }

 private:
  uint32_t number(std::string_view name);
  size_t position(std::string_view name);  // of the last that is open; 0: none
  size_t last_of(std::initializer_list<std::string_view> names);
  size_t kept_before(std::string_view name);
  size_t partner(std::string_view name);

  template <typename Ended>
  void pop(const Ended& ended, bool own_tag = false) {
    const OpenElement element = elements_.back();
    elements_.pop_back();
    if (!element.closed) positions_[element.name].pop_back();
    ended(element, own_tag);
  }

  std::vector<OpenElement> elements_;                  // the first is the file
  std::unordered_map<std::string, uint32_t> numbers_;  // of names
  std::vector<std::vector<uint32_t>> positions_;       // of the open elements of each name
};

}  // namespace dragoman::internal
