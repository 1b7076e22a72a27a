// What files and folders that take another's place have in common: until they are whole, they stand beside it under a
// name that only this program uses, since what has that name is overwritten.
#pragma once

#include <string>

namespace dragoman::internal {

// Of what takes the place of PATH: PATH.dragoman-new.
std::string replacement_name(const std::string& path);

// Gives the new file the owner and the permissions of the file that it replaces, if there is one: private text stays
// private. To be called before the text is written.
void keep_permissions(const std::string& replaced, int new_file);

}  // namespace dragoman::internal
