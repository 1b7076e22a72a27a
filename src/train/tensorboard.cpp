#include "train/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/elapsed.h"
#include "base/files.h"
#include "base/log.h"
#include "text/protobuf.h"

namespace dragoman::internal {
namespace tensorboard {
namespace {

std::string little_endian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

std::string field(uint64_t number, int64_t value) {
  return protobuf_field(number, static_cast<uint64_t>(value));
}

std::string field(uint64_t number, std::string_view value) { return protobuf_field(number, value); }

std::string field(uint64_t number, double value) {
  return protobuf_fixed_field(number, little_endian(std::bit_cast<uint64_t>(value), 8));
}

std::string field(uint64_t number, float value) {
  return protobuf_fixed_field(number, little_endian(std::bit_cast<uint32_t>(value), 4));
}

// The fields of TensorFlow's messages that are used here.
enum EventField { wall_time = 1, event_step = 2, file_version = 3, summary = 5, session_log = 7 };
enum SummaryField { summary_value = 1 };
enum ValueField { tag_name = 1, simple_value = 2, value_tensor = 8, metadata = 9 };
enum MetadataField { plugin_data = 1 };
enum PluginField { plugin_name = 1 };
enum TensorField { dtype = 1, tensor_shape = 2, string_values = 8 };
enum ShapeField { dimension = 2 };
enum DimensionField { dimension_size = 1 };
enum SessionField { status = 1 };
constexpr int64_t dt_string = 7, status_start = 1;

std::string event(double time, int64_t step, const std::string& what) {
  // Zero is the default of a field, which is omitted.
  return field(wall_time, time) + (step == 0 ? "" : field(event_step, step)) + what;
}

std::string value_event(double time, int64_t step, const std::string& value) {
  return event(time, step, field(summary, field(summary_value, value)));
}

}  // namespace

std::string version_event(double time) { return event(time, 0, field(file_version, "brain.Event:2")); }

std::string start_event(double time, int64_t first_step) {
  return event(time, first_step, field(session_log, field(status, status_start)));
}

std::string scalar_event(double time, int64_t step, std::string_view tag, float value) {
  return value_event(time, step, field(tag_name, tag) + field(simple_value, value));
}

std::string text_event(double time, int64_t step, std::string_view tag, std::string_view text) {
  const std::string shape = field(dimension, field(dimension_size, int64_t{1}));
  const std::string tensor =
      field(dtype, dt_string) + field(tensor_shape, shape) + field(string_values, text);
  const std::string kind = field(plugin_data, field(plugin_name, "text"));
  return value_event(time, step, field(tag_name, tag) + field(value_tensor, tensor) + field(metadata, kind));
}

uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> result{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t remainder = i;
      for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0x82f63b78u : 0);
      result[i] = remainder;
    }
    return result;
  }();
  uint32_t sum = ~0u;
  for (const char byte : bytes) sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~sum;
}

std::string record(std::string_view event) {
  // A checksum that is stored beside its data is masked: else the checksum of both would be a constant.
  const auto masked = [](std::string_view bytes) {
    return little_endian(std::rotr(crc32c(bytes), 15) + 0xa282ead8u, 4);
  };
  const std::string length = little_endian(event.size(), 8);
  return length + masked(length) + std::string(event) + masked(event);
}

std::string as_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "  \n";  // a line break, not a space
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::strchr("\\`*_{}[]()#+-.!|>~", c) != nullptr && c != '\0') out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace tensorboard

namespace {

// TensorBoard looks for files with such names, and reads those of a folder in alphabetical order.
std::string event_file(const std::string& folder) {
  static std::atomic<int> files{0};
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}", folder,
                     static_cast<int64_t>(seconds_since_1970()), host, getpid(), files++);
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::string& folder, int64_t first_step)
    : path_(event_file(folder)) {
  make_folder(folder);
  file_ = Descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  write(tensorboard::version_event(seconds_since_1970()));
  if (first_step > 0) write(tensorboard::start_event(seconds_since_1970(), first_step));
}

void TensorBoardWriter::scalar(std::string_view tag, int64_t step, double value) {
  write(tensorboard::scalar_event(seconds_since_1970(), step, tag, static_cast<float>(value)));
}

void TensorBoardWriter::text(std::string_view tag, int64_t step, std::string_view text) {
  write(tensorboard::text_event(seconds_since_1970(), step, tag, tensorboard::as_markdown(text)));
}

void TensorBoardWriter::write(const std::string& event) {
  if (broken_) return;
  const std::string record = tensorboard::record(event);
  if (!file_.try_to_write_all(record)) return fail();
  bytes_ += static_cast<int64_t>(record.size());
}

// Half a record would hide all that follow: it is cut off, or nothing more is written.
void TensorBoardWriter::fail() {
  if (!warned_) log_warning("cannot write {}: {}; training continues", path_, std::strerror(errno));
  warned_ = true;
  broken_ = ftruncate(file_.number(), bytes_) != 0;
}

}  // namespace dragoman::internal
