// Lines keep their order, equal ones are translated once, and not all of a file is under way at once.
#include "app/lines_in_order.h"

#include <gtest/gtest.h>

#include "search/model_folder.h"

namespace dragoman::internal {
namespace {

class LinesInOrderTest : public testing::Test {
 protected:
  std::vector<std::string> rest(LinesInOrder& lines) {
    std::vector<std::string> sources;
    while (!lines.empty())
      lines.deliver_finished([&](const dragoman::Translation& t) { sources.push_back(t.source); });
    return sources;
  }

  const ModelFolder folder_{"lines-in-order"};
  const dragoman::Options options_ = {{"beam", 2}, {"max-length", 12}};
  dragoman::Translator translator_{folder_.path, {.threads = 1, .batch = 2}};
};

TEST_F(LinesInOrderTest, KeepTheirOrder) {
  LinesInOrder lines(translator_, options_, 2);
  std::vector<std::string> wanted;
  for (size_t i = 0; lines.has_room(); ++i) {
    wanted.push_back(i % 3 == 0 ? "" : known_lines()[i % 4] + std::string(i, 'x'));
    lines.add(wanted.back());
  }
  EXPECT_EQ(wanted.size(), 32U);
  EXPECT_EQ(rest(lines), wanted);
}

TEST_F(LinesInOrderTest, EqualOnesAreTranslatedOnce) {
  LinesInOrder lines(translator_, options_, 2);
  for (int i = 0; i < 20; ++i) lines.add("The cat sleeps.");
  EXPECT_LE(translator_.pending(), 1U);
  lines.add("The cat sleeps.", "A dog");
  EXPECT_EQ(rest(lines), std::vector<std::string>(21, "The cat sleeps."));
}

}  // namespace
}  // namespace dragoman::internal
