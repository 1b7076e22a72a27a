// PDF files that tests make.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

namespace dragoman::internal {

struct Shown {  // a line of text, from the upper left corner of the page
  double left, top, size;
  std::string text;
};

// A file with a line of text for each that is shown, in Courier, whose letters are as wide as 0.6 of their height.
inline std::string pdf_file(const std::vector<std::vector<Shown>>& pages, const std::string& trailer = "") {
  std::vector<std::string> objects = {
      "<< /Type /Catalog /Pages 2 0 R >>", "",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"};
  std::string kids;
  for (const auto& page : pages) {
    std::string content = "BT\n";
    for (const Shown& shown : page)
      content += fmt::format("/F1 {} Tf 1 0 0 1 {} {} Tm ({}) Tj\n", shown.size, shown.left, 800 - shown.top,
                             shown.text);
    content += "ET";
    kids += fmt::format("{} 0 R ", objects.size() + 1);
    objects.push_back(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R "
                    "/Resources << /Font << /F1 3 0 R >> >> >>",
                    objects.size() + 2));
    objects.push_back(fmt::format("<< /Length {} >>\nstream\n{}\nendstream", content.size(), content));
  }
  objects[1] = fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", pages.size(), kids);
  std::string file = "%PDF-1.4\n", places;
  for (size_t i = 0; i < objects.size(); ++i) {
    places += fmt::format("{:010} 00000 n \n", file.size());
    file += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  return file + fmt::format(
                    "xref\n0 {0}\n0000000000 65535 f \n{1}trailer\n<< /Size {0} /Root 1 0 R {2} >>\n"
                    "startxref\n{3}\n%%EOF\n",
                    objects.size() + 1, places, trailer, file.size());
}

}  // namespace dragoman::internal
