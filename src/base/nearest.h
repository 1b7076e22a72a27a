// The known word that a mistyped one probably meant, for errors that help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// How many letters must be inserted, deleted, exchanged or swapped with their neighbour.
int edit_distance(std::string_view a, std::string_view b);

// The known word at the least distance, the first of equals; empty where none is known.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace dragoman
