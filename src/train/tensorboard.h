// Event files for TensorBoard: the scalars and texts of a run, in the format that it reads.
//
//   TensorBoardWriter board(folder + "/tensorboard");     // a new file in it
//   board.scalar("loss/train", step, 4.56);
//   board.text("sample/1", step, "Je t'aime.");           // shown literally, not as Markdown
//
// A resumed run passes the first step that it will write: TensorBoard then discards that step and later ones of earlier
// files. As with MetricsLog, a failure to write is reported once and does not stop training. For one thread.
//
// The format: a file of records (length, payload, masked CRC-32C of each), every payload a protocol buffer "Event".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace dragoman::internal {

class TensorBoardWriter {
 public:
  // Makes the folder if it is missing. Throws if no file can be opened in it.
  explicit TensorBoardWriter(const std::string& folder, int64_t first_step = 0);

  void scalar(std::string_view tag, int64_t step, double value);
  void text(std::string_view tag, int64_t step, std::string_view text);

  const std::string& path() const { return path_; }

 private:
  void write(const std::string& event);
  void fail();

  std::string path_;
  Descriptor file_;
  int64_t bytes_ = 0;  // of whole records
  bool warned_ = false, broken_ = false;
};

// The parts, for tests: Event messages, and the record of one in the file.
namespace tensorboard {

std::string version_event(double time);
std::string start_event(double time, int64_t first_step);
std::string scalar_event(double time, int64_t step, std::string_view tag, float value);
std::string text_event(double time, int64_t step, std::string_view tag, std::string_view text);
std::string record(std::string_view event);
uint32_t crc32c(std::string_view bytes);

// Markdown that shows this text literally.
std::string as_markdown(std::string_view text);

}  // namespace tensorboard
}  // namespace dragoman::internal
