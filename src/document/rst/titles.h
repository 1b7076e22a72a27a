// Titles of reStructuredText: the lines under and over them become as long as they need, and a title that the file
// refers to by its text (`The title`_) gets a target of this name.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// A line of one sign: under or over a title, or between paragraphs.
bool is_rst_adornment(std::string_view text);

// As docutils counts them: unlike on a terminal, signs of format and marks of no combining class have one.
size_t rst_columns(std::string_view text);

class RstTitles {
 public:
  explicit RstTitles(std::string_view file);

  // What stands before and after a title in the file that is written, until `finish`.
  std::string begin(std::string_view title, size_t indent, bool has_line_over);
  static std::string end();

  std::string finish(const std::string& written) const;

 private:
  struct Title {
    std::string text;
    size_t indent = 0;
    bool has_line_over = false, needs_target = false;
  };

  std::string target_of(const Title& title) const;

  std::vector<Title> titles_;
  std::set<std::string> references_;  // names that no target has yet
  std::string line_break_;
};

}  // namespace dragoman::internal
