#include "document/xml/read_blocks.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "document/xml/block_content.h"
#include "document/xml/blocks.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using XmlKind = XmlToken::Kind;
using Role = XmlRole;

// The file, or a block in it that is being read.
struct Frame {
  BlockContent block;
  bool is_file = false;
  std::string raw = {};
  // An element that is one item of the paragraph, with everything inside.
  std::string subtree = {};
  size_t subtree_elements = 0;
  Role subtree_role = Role::other;
};

class BlockReader {
 public:
  BlockReader(const XmlRules& rules, const std::string& file, size_t bytes)
      : rules_(rules), budget_({.file = file, .bytes = (size_t{32} << 20) + 8 * bytes}) {
    frames_.push_back({.block = BlockContent(rules, false, budget_), .is_file = true});
  }

  Document read(std::string_view xml) {
    XmlTokens tokens(xml);
    for (XmlToken token; tokens.next(token);) {
      if (token.kind == XmlKind::start || token.kind == XmlKind::empty)
        start(token);
      else if (token.kind == XmlKind::end)
        end(token);
      else
        content(token);
    }
    return std::move(blocks_).finish(std::move(frames_[0].raw));
  }

 private:
  Frame& frame() { return frames_.back(); }
  bool in_subtree() const { return frames_.back().subtree_elements > 0; }
  bool in_paragraph() const { return !frames_.back().is_file && !in_subtree(); }

  void put(std::string_view bytes) {
    frame().raw += bytes;
    if (in_subtree()) frame().subtree += bytes;
  }
  void put_border(std::string bytes) {
    put(bytes);
    if (in_paragraph()) frame().block.border(std::move(bytes));
  }

  Role role_of(const XmlToken& token);
  std::string with_attributes(std::string_view tag);

  void start(const XmlToken& token);
  void start_inline(const XmlToken& token, Role role, std::string tag);
  void start_subtree(Role role, const std::string& tag, bool empty);
  void end(const XmlToken& token);
  void end_subtree();
  void end_block(const XmlToken& token);
  void content(const XmlToken& token);

  const XmlRules& rules_;
  FormatBudget budget_;
  std::vector<std::pair<std::string_view, std::string_view>> prefixes_;  // the file's, and the usual ones
  bool at_root_ = true;
  size_t untouched_ = 0;  // elements that are open in an untouched one, itself included
  std::vector<Frame> frames_;
  Blocks blocks_;
};

Role BlockReader::role_of(const XmlToken& token) {
  if (std::exchange(at_root_, false))
    for (const XmlAttribute& attribute : xml_attributes(token.bytes))
      for (const auto& [name, usual] : rules_.namespaces)
        if (attribute.value.of(token.bytes) == name) {
          if (attribute.name == "xmlns") prefixes_.emplace_back("", usual);
          if (attribute.name.starts_with("xmlns:")) prefixes_.emplace_back(local_name(attribute.name), usual);
        }
  const std::string_view local = local_name(token.name);
  const std::string_view prefix =
      token.name.substr(0, std::max(token.name.size() - local.size(), size_t{1}) - 1);
  for (const auto& [known, usual] : prefixes_)
    if (known == prefix && usual != prefix)
      return rules_.role(fmt::format("{}:{}", usual, local), token.bytes);
  return rules_.role(token.name, token.bytes);
}

// The tag with the segments of its translated attributes in their places.
std::string BlockReader::with_attributes(std::string_view tag) {
  std::string changed(tag);
  for (const std::string_view name : rules_.attributes)
    if (const auto place = xml_attribute_place(changed, name)) {
      const size_t size = place->end - place->begin;
      changed.replace(place->begin, size,
                      blocks_.add_text(changed.substr(place->begin, size), escape_xml_attribute));
    }
  return changed;
}

void BlockReader::start(const XmlToken& token) {
  const bool empty = token.kind == XmlKind::empty;
  if (untouched_ > 0) {
    put(token.bytes);
    untouched_ += empty ? 0 : 1;
    frame().subtree_elements += empty || !in_subtree() ? 0 : 1;
    return;
  }
  const Role role = role_of(token);
  const bool untouched = role == Role::untouched && !empty;
  std::string tag = untouched ? std::string(token.bytes) : with_attributes(token.bytes);
  untouched_ = untouched ? 1 : 0;
  // In a cell without runs, text is directly in the tag that is otherwise inside a run.
  const bool no_run =
      (role == Role::run_text || role == Role::run_text_spaced) && in_paragraph() && !frame().block.in_run();
  if (role == Role::block || role == Role::run_block || no_run) {
    put_border(std::move(tag));
    if (!empty) frames_.push_back({.block = BlockContent(rules_, role == Role::run_block, budget_)});
  } else if (in_paragraph()) {
    start_inline(token, role, std::move(tag));
  } else {
    put(tag);
    frame().subtree_elements += empty || !in_subtree() ? 0 : 1;
  }
}

void BlockReader::start_inline(const XmlToken& token, Role role, std::string tag) {
  BlockContent& block = frame().block;
  const bool is_text = role == Role::run_text || role == Role::run_text_spaced;
  const bool has_end = token.kind == XmlKind::start && !block.in_text();
  if (has_end && is_text) {
    put(tag);
    block.open_text(token, role == Role::run_text_spaced);
  } else if (has_end && role == Role::run && !block.in_run()) {
    put(tag);
    block.open_run(token);
  } else if (has_end && role == Role::tags && !block.in_run()) {
    put(tag);
    block.open_tags(token, std::move(tag));
  } else {
    start_subtree(role, tag, token.kind == XmlKind::empty);
  }
}

void BlockReader::start_subtree(Role role, const std::string& tag, bool empty) {
  frame().subtree_role = role;
  frame().subtree_elements = 1;
  put(tag);
  if (empty) end_subtree();
}

void BlockReader::end(const XmlToken& token) {
  BlockContent& block = frame().block;
  untouched_ -= untouched_ > 0 ? 1 : 0;
  if (in_paragraph() && !block.in_run() && !block.in_tags()) return end_block(token);
  put(token.bytes);
  if (in_subtree()) {
    if (--frame().subtree_elements == 0) end_subtree();
  } else if (block.in_text()) {
    block.close_text();
  } else if (block.in_run()) {
    block.close_run();
  } else if (block.in_tags()) {
    block.close_tags(token);
  }
}

void BlockReader::end_subtree() {
  frame().subtree_elements = 0;
  frame().block.add(frame().subtree_role, std::exchange(frame().subtree, {}));
}

void BlockReader::end_block(const XmlToken& token) {
  Frame ended = std::move(frame());
  frames_.pop_back();
  const std::string words = ended.block.words();
  const auto [begin, end] = trimmed(words);
  const bool fixed = rules_.fixed != nullptr && rules_.fixed->contains(words.substr(begin, end - begin));
  put_border(fixed ? ended.raw : blocks_.add(std::move(ended.block).finish(std::move(ended.raw))));
  put_border(std::string(token.bytes));
}

// Everything except tags.
void BlockReader::content(const XmlToken& token) {
  put(token.bytes);
  if (!in_paragraph()) return;
  constexpr std::string_view cdata = "<![CDATA[", cdata_end = "]]>";
  const std::string_view bytes = token.bytes;
  if (token.kind == XmlKind::text)
    frame().block.text(decode_xml(bytes));
  else if (token.kind == XmlKind::cdata)
    frame().block.text(
        std::string(bytes.substr(cdata.size(), bytes.size() - cdata.size() - cdata_end.size())));
  else
    frame().block.add(Role::other, std::string(bytes));
}

}  // namespace

Document read_xml_blocks(std::string_view bytes, const DocumentSettings& settings, const XmlRules& rules) {
  return read_xml(bytes, settings, [&](std::string_view xml) {
    return BlockReader(rules, settings.name, xml.size()).read(xml);
  });
}

}  // namespace dragoman::internal
