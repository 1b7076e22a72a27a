// Random Markdown: tame (as people write it) or wild (its characters in any order).
#pragma once

#include <random>
#include <string>
#include <vector>

namespace dragoman::internal {

class GeneratedMarkdown {
 public:
  explicit GeneratedMarkdown(uint32_t seed) : random_(seed) {}

  std::string tame() {
    std::string out = one_of({"", "\xEF\xBB\xBF", "---\nTITLE: A PAGE\n---\n", "+++\r\nX = 1\r\n+++\r\n"});
    for (size_t i = 0, count = 1 + below(6); i < count; ++i) out += block(0) + "\n";
    return out + "[ref]: http://x.org \"its title\"\n";
  }

  std::string wild() {
    std::string out;
    for (size_t i = 0, count = 1 + below(60); i < count; ++i)
      out += one_of(
          {"*",     "**",        "_",    "__",    "`",     "``",    "[",    "]",          "](",
           "(",     ")",         "![",   "<",     ">",     "&amp;", "\\",   "#",          "- ",
           "1. ",   "\n",        "\n\n", "\r\n",  "    ",  " ",     "  \n", "> ",         "|",
           "~~",    "word",      "word", " two ", "x",     "<b>",   "</b>", "<!-- c -->", "http://a.b/_c_",
           "[r]",   "[r]: /u\n", "\t",   "!",     "===\n", "---\n", "é",    "\\*",        "&#42;",
           "{#id}", "[^1]",      "=",    "+ ",    "```\n"});
    return out + "\n\n[r]: /url\n";
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  bool chance(size_t percent) { return below(100) < percent; }
  std::string one_of(std::vector<std::string> list) { return list[below(list.size())]; }

  std::string word() {
    return one_of({"fish",       "caf&eacute;", "øre",    "R&D",     "a < b", "1\\. x",    "\\*star\\*",
                   "snake_case", "2 * 3",       "日本語", "100",     "end.",  "&lt;p&gt;", "it's",
                   "\\# x",      "C#",          "a\\|b",  "\\[x\\]", "&#35;", "C:\\\\dir", "50%"});
  }

  std::string words() {
    std::string out = "so " + word();
    for (size_t i = 0, count = below(4); i < count; ++i) out += " " + word();
    return out;
  }

  std::string element(size_t depth) {
    if (depth > 2 || chance(40))
      return one_of({"`code *x*`", "``a ` b``", "<HTTP://AUTO.LINK/A_B>", "![a picture](pic.png)",
                     "[a link](<a b> 'title')", "[text][ref]", "[ref]", "[Ref][]", "<b>bold</b>",
                     "<img src=x>", "~~old~~", "![see *this*](a.png \"t\")",
                     "[![badge](b.svg)](http://c.d/(e))", "<kbd>Q</kbd>", "<!-- note -->", "![REF]"});
    const std::string mark = one_of({"*", "**"});
    return mark + inlines(depth + 1, " ") + mark;
  }

  std::string inlines(size_t depth, const std::string& line_end) {
    std::string out = words();
    for (size_t i = 0, count = below(3); i < count; ++i)
      out += (chance(30) ? line_end : " ") + element(depth) + " " + words();
    return out;
  }

  // Lines that continue a paragraph may have less of the prefix.
  std::string paragraph(const std::string& prefix) {
    const std::string next =
        one_of({"\n" + prefix, "\n" + prefix, "\n", "  \n" + prefix, "\\\n" + prefix, "\r\n" + prefix});
    return inlines(0, next);
  }

  std::string block(size_t depth, const std::string& prefix = "") {
    if (depth > 2 || chance(40)) return prefix + paragraph(prefix) + "\n" + prefix + "\n";
    switch (below(9)) {
      case 0:
        return prefix + "## " + inlines(0, " ") + one_of({"", " ##", " {#AN-ID}"}) + "\n";
      case 1:
        return prefix + inlines(0, " ") + "\n" + prefix + one_of({"===", "---"}) + "\n";
      case 2:
        return prefix + "```c\n" + prefix + "int *x;\n" + prefix + "```\n";
      case 3:
        return prefix + "<div>\n" + prefix + "html *x*\n" + prefix + "</div>\n" + prefix + "\n";
      case 4:
        return quoted(depth, prefix);
      case 5:
        return list(depth, prefix);
      case 6:
        return table(prefix);
      case 7:
        return prefix + "* * *\n";
      default:
        return prefix + "[OTHER]: <HTTP://Y>\n" + prefix + paragraph(prefix) + "\n" + prefix + "\n";
    }
  }

  std::string quoted(size_t depth, const std::string& prefix) {
    return block(depth + 1, prefix + "> ") + block(depth + 1, prefix + "> ") + prefix + "\n";
  }

  std::string list(size_t depth, const std::string& prefix) {
    const std::string marker = one_of({"- ", "* ", "1. ", "- [ ] ", "+ "});
    const std::string indent(marker == "1. " ? 3 : 2, ' ');
    std::string out;
    for (size_t i = 0; i < 1 + below(3); ++i) {
      out += prefix + marker + inlines(0, "\n" + prefix + indent) + "\n";
      if (chance(30)) out += prefix + "\n" + block(depth + 1, prefix + indent);
    }
    return out + prefix + "\n";
  }

  std::string table(const std::string& prefix) {
    const std::string cell = inlines(1, " ");
    return prefix + "| head | " + cell + " |\n" + prefix + "|:---|---:|\n" + prefix + "| " + inlines(1, " ") +
           " | x |\n" + prefix + "no pipes | " + inlines(2, " ") + "\n" + prefix + "\n";
  }

  std::mt19937 random_;
};

}  // namespace dragoman::internal
