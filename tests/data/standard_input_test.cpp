#include "data/standard_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

// While it lives the file is standard input.
class FileAsInput {
 public:
  explicit FileAsInput(const std::string& path)
      : before_(dup(STDIN_FILENO)), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    dup2(file_, STDIN_FILENO);
  }
  ~FileAsInput() {
    dup2(before_, STDIN_FILENO);
    close(before_);
    close(file_);
  }
  FileAsInput(const FileAsInput&) = delete;
  FileAsInput& operator=(const FileAsInput&) = delete;

  off_t bytes_read() const { return lseek(file_, 0, SEEK_CUR); }

 private:
  int before_, file_;
};

const DataConfig from_standard_input = {.tsv = {"-"}};

TEST(StandardInput, IsAFileOfTheCorpusMeanwhile) {
  const TemporaryFolder folder;
  const FileAsInput input(folder.write("input", "a\tb\n"));
  std::string path;
  {
    const CorpusOfFiles corpus(from_standard_input, folder.path(""));
    path = corpus.data().tsv.front();
    EXPECT_EQ(read_file(path), "a\tb\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(StandardInput, IsReadNoFurtherOnceTheDiskIsFull) {
  constexpr int64_t size = 64 << 20;
  const TemporaryFolder folder;
  const std::string path = folder.write("input", "");
  std::filesystem::resize_file(path, size);
  std::filesystem::create_symlink("/dev/full", folder.path("standard-input"));
  const FileAsInput input(path);
  try {
    const CorpusOfFiles corpus(from_standard_input, folder.path(""));
    ADD_FAILURE() << "there is no room";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "standard input: cannot write " + folder.path("standard-input") + ": No space left on device");
  }
  EXPECT_LT(input.bytes_read(), size);
}

}  // namespace
}  // namespace dragoman::internal
