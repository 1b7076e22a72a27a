#include "base/replacement.h"

#include <sys/stat.h>
#include <unistd.h>

namespace dragoman::internal {

std::string replacement_name(const std::string& path) { return path + ".dragoman-new"; }

void keep_permissions(const std::string& replaced, int new_file) {
  struct stat old = {};
  if (stat(replaced.c_str(), &old) != 0) return;
  // Some file systems have neither. The owner may always write: what a crash leaves is written again.
  (void)!fchown(new_file, old.st_uid, old.st_gid);
  (void)!fchmod(new_file, (old.st_mode & 0777) | S_IWUSR);
}

}  // namespace dragoman::internal
