// Random HTML: tame (every tag has its partner) or wild (some have none, cross, or are where they must not be).
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

class GeneratedHtml {
 public:
  GeneratedHtml(uint32_t seed, bool wild) : random_(seed), wild_(wild) {}

  std::string document() {
    std::string out = one_of({"", "<!DOCTYPE html>\n", "\xEF\xBB\xBF", "<!-- a page -->\r\n"});
    const bool whole = chance(50);
    if (whole) out += "<html lang=en><head><title>the &lt;title&gt;</title>" + head() + "</head><body>";
    for (size_t i = 0, count = 1 + below(3); i < count; ++i) out += block(0);
    return whole && chance(80) ? out + "</body></html>\n" : out;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  bool chance(size_t percent) { return below(100) < percent; }
  std::string one_of(std::vector<std::string> list) { return list[below(list.size())]; }

  std::string head() {
    return one_of({"", "<meta name=description content='what it \"is\"'>",
                   "<script>if (a<b) x = '<p>';</script>", "<style>a > b { }</style>\n",
                   "<meta charset=utf-8><link rel=x href=y>"});
  }

  std::string word() {
    return one_of({"fish", "caf&eacute;", "a&nbsp;b", "øre", "x&amp;y", "R&D", "3 < 4", "&lt;tag&gt;", "it's",
                   "\"quoted\"", "日本語", "&#x41;b", "100", "–", "<3", "{{ name }}", "end."});
  }

  std::string text() {
    std::string out = space();
    for (size_t i = 0, count = 1 + below(4); i < count; ++i) out += word() + space();
    return out;
  }
  std::string space() { return one_of({" ", " ", " ", "\n   ", "\t ", "\r\n", ""}); }

  std::string attributes() {
    return one_of({"", "", " class=\"c d\"", " title=\"a hint\"", " id=x data-x='<b>'", " style='color: red'",
                   " hidden"});
  }

  std::string inlines(size_t depth) {
    std::string out = text();
    for (size_t i = 0, count = below(3); i < count; ++i) out += inline_element(depth + 1) + text();
    return out;
  }

  std::string inline_element(size_t depth) {
    if (depth > 5 || chance(30))
      return one_of({"<br>", "<img src=a alt='a picture'>", "<img src=b>", "<!-- note -->", "<wbr>",
                     "<code>let x</code>", "<input type=submit value=go>",
                     "<span translate=no>Brand <b>x</b></span>", "<kbd> q </kbd>",
                     "<svg><path d='M0'/><text>svg</text></svg>", "<script>'</b>'</script>",
                     "<i class=icon></i>", "<span> </span>", "<select><option>red<option>green</select>",
                     "<textarea>raw &amp; x</textarea>", "<code>a <i translate=yes>word</i></code>"});
    const std::string name = one_of({"b", "i", "em", "a", "span", "strong", "u", "sub", "q"});
    const std::string open = "<" + name + attributes() + ">", close = "</" + name + ">";
    if (!wild_ || chance(60)) return open + inlines(depth) + close;
    if (chance(30)) return open + inlines(depth);
    if (chance(30)) return inlines(depth) + close;
    if (chance(30)) return open + "<b>" + inlines(depth) + close + word() + "</b>";
    return open + inlines(depth) + block(depth) + inlines(depth) + close;
  }

  std::string block(size_t depth) {
    if (depth > 3 || chance(50))
      return "<p" + attributes() + ">" + inlines(depth) + one_of({"</p>", "</p>\n", "\n"});
    const std::string inner = block(depth + 1) + (chance(50) ? block(depth + 1) : inlines(depth + 1));
    switch (below(wild_ ? 11 : 8)) {
      case 0:
        return "<ul>\n<li>" + inlines(depth) + "<li>" + inlines(depth) + "</ul>";
      case 1:
        return "<table><tr><td>" + inner + "</td><td>" + inlines(depth) + "</table>\n";
      case 2:
        return "<h2>" + inlines(depth) + "</h2>" + inner;
      case 3:
        return "<pre>\n one\n  two <b>three</b>\n</pre>";
      case 4:
        return "<div translate=no>" + inner + "</div>";
      case 5:
        return "<dl><dt>" + inlines(depth) + "<dd>" + inner + "</dl>";
      case 6:
        return "<a href=x>" + inner + "</a>";
      case 8:
        return "</div>" + inner + "</p>";
      case 9:
        return "<tr>" + inner + "<td>" + inlines(depth);
      case 10:
        return "<table>" + inlines(depth) + "<tr>" + inner;
      default:
        return "<div" + attributes() + ">" + inner + "</div>";
    }
  }

  std::mt19937 random_;
  const bool wild_;
};

}  // namespace dragoman::internal
