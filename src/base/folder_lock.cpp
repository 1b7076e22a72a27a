#include "base/folder_lock.h"

#include <fcntl.h>

#include "base/files.h"

namespace dragoman::internal {

Descriptor lock_folder(const std::string& path, const std::function<void()>& wait) {
  for (;;) {
    make_folder(path);
    Descriptor folder = Descriptor::if_there(path, O_RDONLY | O_DIRECTORY);
    if (!folder.is_open()) continue;
    while (!folder.try_to_lock()) wait();
    if (is_named(folder.number(), path)) return folder;
  }
}

}  // namespace dragoman::internal
