// The pages are true where that can be seen: what docs/annotated.md quotes stands in the source, its commands print
// what it shows, the files and names of its tables exist, the tables of docs/gpu.md are what a script computes, and the
// links of every page lead somewhere.
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run_script.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const fs::path root = DRAGOMAN_SOURCE_DIR;

struct Line {
  int number;
  std::string text;
};

// A page in two parts: its prose, and its blocks of C++, each with the line of prose above it.
struct Page {
  struct Block {
    Line above;
    std::vector<std::string> lines;
  };
  std::vector<Line> prose;
  std::vector<Block> blocks;
};

Page read_page(const fs::path& path) {
  Page page;
  std::istringstream text(read_file(path.string()));
  std::string fence;  // that of the block we are in
  Line line = {}, above = {};
  while (++line.number, std::getline(text, line.text)) {
    if (line.text.starts_with("```")) {
      if (fence.empty() && line.text == "```cpp") page.blocks.push_back({above, {}});
      fence = fence.empty() ? line.text : "";
    } else if (fence.empty()) {
      page.prose.push_back(line);
      if (!line.text.empty()) above = line;
    } else if (fence == "```cpp") {
      page.blocks.back().lines.push_back(line.text);
    }
  }
  EXPECT_EQ(fence, "") << path << " ends within a block";
  return page;
}

// Every first group of the pattern in the text, from left to right.
std::vector<std::string> all_of(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

// Whether the file has these lines one after the other, all of them further in by the same number of spaces.
bool has_lines(const std::string& file, const std::vector<std::string>& lines) {
  for (const char* indent : {"", "  ", "    ", "      "}) {
    std::string wanted = "\n";
    for (const std::string& line : lines) wanted += (line.empty() ? "" : indent) + line + "\n";
    if (("\n" + file).find(wanted) != std::string::npos) return true;
  }
  return false;
}

// A name of the tables is that of a file in src/, or of one from the root on.
fs::path file_named(const std::string& name) {
  return fs::exists(root / "src" / name) ? root / "src" / name : root / name;
}

bool is_file_name(const std::string& name) {
  return std::regex_match(name, std::regex(R"([\w./-]+/[\w.-]+\.\w+)"));
}

TEST(AnnotatedPage, QuotesTheSource) {
  const Page page = read_page(root / "docs/annotated.md");
  EXPECT_GT(page.blocks.size(), 30u);
  for (const Page::Block& block : page.blocks) {
    std::smatch link;
    ASSERT_TRUE(std::regex_match(block.above.text, link, std::regex(R"(\[`(src/\S+)`\]\(\.\./(\S+)\))")))
        << "no file is named above the block at line " << block.above.number << ": " << block.above.text;
    EXPECT_EQ(link[1], link[2]) << "line " << block.above.number;
    ASSERT_TRUE(fs::exists(root / link[1].str())) << link[1];
    ASSERT_FALSE(block.lines.empty());
    EXPECT_TRUE(has_lines(read_file((root / link[1].str()).string()), block.lines))
        << "docs/annotated.md:" << block.above.number << ": " << link[1]
        << " has no such lines; quote it again:\n"
        << testing::PrintToString(block.lines);
  }
}

// In a table the names behind that of a file are found in this file; elsewhere files exist.
TEST(AnnotatedPage, NamesWhatThereIs) {
  int files = 0, names = 0;
  for (const Line& line : read_page(root / "docs/annotated.md").prose) {
    const bool table = line.text.starts_with("| ");
    const std::string cell = table ? line.text.substr(line.text.find(" | ")) : line.text;
    std::string name, file;
    for (const std::string& quoted : all_of(cell, "`([^`]+)`")) {
      if (is_file_name(quoted)) {
        ++files;
        name = quoted;
        ASSERT_TRUE(fs::exists(file_named(name))) << "line " << line.number << ": there is no " << name;
        file = read_file(file_named(name).string());
      } else if (table) {
        ++names;
        EXPECT_TRUE(std::regex_search(file, std::regex("\\b" + quoted + "\\b")))
            << "line " << line.number << ": " << name << " has no " << quoted;
      }
    }
  }
  EXPECT_GT(files, 100);
  EXPECT_GT(names, 100);
}

TEST(AnnotatedPage, ShowsWhatItsCommandsPrint) {
  expect_script_passes(fmt::format("DRAGOMAN='{0}' '{1}/tools/page_commands' '{1}/docs/annotated.md'",
                                   DRAGOMAN_PROGRAM, root.string()));
}

TEST(GpuPage, ShowsWhatTheModelOfCostComputes) {
  const std::string folder = root.string();
  for (const char* script : {"gpu_cost.py", "gpu_decoding_cost.py"})
    expect_script_passes(fmt::format("python3 '{0}/bench/{1}' --check '{0}/docs/gpu.md'", folder, script));
}

TEST(ScalePage, ShowsWhatTheModelOfUpdatesComputes) {
  const std::string folder = root.string();
  expect_script_passes(fmt::format("python3 '{0}/bench/step_model.py' --check '{0}/docs/scale.md'", folder));
}

TEST(Pages, TheirLinksLeadSomewhere) {
  int links = 0;
  for (const char* folder : {".", "docs", "src", "recipes", "data"}) {
    for (const auto& file : fs::directory_iterator(root / folder)) {
      if (file.path().extension() != ".md") continue;
      for (const Line& line : read_page(file.path()).prose) {
        for (const std::string& target : all_of(line.text, R"(\]\(([^)#:]+)(?:#[^)]*)?\))")) {
          ++links;
          EXPECT_TRUE(fs::exists(file.path().parent_path() / target))
              << file.path() << ":" << line.number << " links to " << target << ", which does not exist";
        }
      }
    }
  }
  EXPECT_GT(links, 50);
}

}  // namespace
}  // namespace dragoman::internal
