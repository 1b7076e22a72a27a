// Choosing among hypotheses by a reference.
#include "metrics/choosing.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(Choosing, TakesTheNearestAndOfEqualOnesTheFirst) {
  const std::vector<std::string> hypotheses = {"Un chat dort.", "Le chat dort.", "Le chat dort.",
                                               "Il pleut."};
  EXPECT_EQ(nearest_to_reference(hypotheses, "Le chat dort ici."), 1U);
  EXPECT_EQ(nearest_to_reference(hypotheses, "Il pleut."), 3U);
  EXPECT_EQ(nearest_to_reference(hypotheses, ""), 0U);
}

}  // namespace
}  // namespace dragoman::internal
