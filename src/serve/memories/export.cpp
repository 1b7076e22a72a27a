#include "serve/memories/export.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "memory/tmx_writer.h"

namespace dragoman::internal {
namespace {

constexpr size_t bytes_at_once = 64 << 10, most_unsent = 1 << 20;
// A thread waits for the client so long in one go, and so long for each piece in the mean.
constexpr auto patience = std::chrono::seconds(30), patience_for_piece = std::chrono::seconds(1);
constexpr auto pause = std::chrono::milliseconds(5);

struct ClientIsGone {};  // thrown to end the way through a memory

// Writes in pieces, no faster than the client reads.
class TmxStream {
 public:
  explicit TmxStream(const ServeCall& call) : responder_(call.responder), gone_(call.request.disconnected) {}

  void write(std::string_view bytes) {
    waiting_ += bytes;
    if (waiting_.size() >= bytes_at_once) flush();
  }

  void finish() {
    flush();
    responder_.end();
  }

 private:
  void flush() {
    left_ = std::min<std::chrono::milliseconds>(left_ + patience_for_piece, patience);
    for (; responder_.unsent() > most_unsent; left_ -= pause) {
      if (gone_.stop_requested()) throw ClientIsGone();
      if (left_ <= pause) throw Error("the client reads too slowly");
      std::this_thread::sleep_for(pause);
    }
    if (gone_.stop_requested() || !responder_.write(std::exchange(waiting_, {}))) throw ClientIsGone();
  }

  const Responder responder_;
  const std::stop_token gone_;
  std::string waiting_;
  std::chrono::milliseconds left_ = patience;
};

// In a header, where a quotation mark would end it.
std::string tmx_file_name(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == 0x7f) c = '_';
  return name + ".tmx";
}

void write_tmx(const ServeCall& call, const ServedMemory& served) {
  call.responder.begin({.type = "application/xml; charset=utf-8",
                        .headers = {{"content-disposition", fmt::format("attachment; filename=\"{}\"",
                                                                        tmx_file_name(served.name))}}});
  TmxStream stream(call);
  const TranslationMemory& memory = *served.memory;
  TmxWriter tmx(memory.from(), memory.to(), [&](std::string_view bytes) { stream.write(bytes); });
  memory.for_each([&](const MemorySegmentView& segment) { tmx.add(segment); });
  tmx.finish();
  stream.finish();
}

}  // namespace

void send_tmx(ServeContext& context, const ServeCall& call, std::shared_ptr<const ServedMemory> memory) {
  run_on_worker(context, call, [call, memory = std::move(memory)] {
    try {
      write_tmx(call, *memory);
    } catch (const ClientIsGone&) {
    } catch (const std::exception& error) {
      log_warning("request {}: the memory was not sent as a whole: {}", call.request.id, error.what());
    }
  });
}

}  // namespace dragoman::internal
