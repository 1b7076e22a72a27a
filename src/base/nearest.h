// The known word that a mistyped one probably meant, for helpful errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// Letters to insert, delete, replace or swap with their neighbour, among the first hundred of each word.
int edit_distance(std::string_view a, std::string_view b);

// The known word at the smallest distance, the first of several; empty if none is known.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// Whether a word with this many letters may be a mistyped form of one at this distance.
bool is_near(int distance, size_t letters);

// For the end of a message: "; did you mean train?", or nothing where no known word is near. Case makes no difference.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace dragoman::internal
