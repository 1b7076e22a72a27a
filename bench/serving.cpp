// An HTTP server under load: requests and tokens a second, and latencies, with clients that wait for their answers or
// with arrivals at a given rate. Speaks LibreTranslate's POST /translate, DeepL's and our own.
//
//   dragoman serve --model DIR --port 5000 &
//   bench_serving --sentences data/tatoeba-en-fr/train.tsv.zst --vocabulary DIR/shared.spm --clients 1,8,64,512
//   bench_serving --sentences data/tatoeba-en-fr/train.tsv.zst --rates 100,200,400
//
// No sentence is sent twice, unless --repeated says how many are: servers may keep translations. Latencies with
// --rates count from when a request was due. bench/serving_peers/compare runs it beside other servers.
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/random.h"
#include "serving_load.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

enum class Api { libretranslate, deepl, dragoman };

struct ServingOptions {
  std::string host = "127.0.0.1", from = "en", to = "fr", sentences, vocabulary;
  int64_t port = 5000, list = 1, first = 0, connections = 1024, addresses = 8;
  std::vector<int64_t> clients = {};
  std::vector<double> rates = {};
  double seconds = 10, warmup = 2, repeated = 0, patience = 60;
  Api api = Api::libretranslate;
  bool json = false;
};

void declare(Options& options, ServingOptions& o) {
  auto own = options.section("", "Options");
  own.add("host", o.host, "the server's name or IPv4 address");
  own.add("port", o.port, "the server's port", at_least(1).at_most(65535));
  own.add("api", o.api, "/translate, /v2/translate or /v1/translate",
          {{"libretranslate", Api::libretranslate}, {"deepl", Api::deepl}, {"dragoman", Api::dragoman}});
  own.add("from", o.from, "language of the sentences");
  own.add("to", o.to, "language to translate to");
  own.add("sentences", o.sentences, "file with a sentence a line; of TSV the first column");
  own.add("first", o.first, "number of the first sentence to send: those before were sent by an earlier run",
          at_least(0));
  own.add("list", o.list, "sentences in a request", at_least(1));
  own.add("repeated", o.repeated, "share of requests that were sent before", at_least(0).at_most(1));
  own.add("clients", o.clients, "clients that wait for their answers; each number is measured", at_least(1));
  own.add("rates", o.rates, "requests that arrive a second; each number is measured", above(0));
  own.add("seconds", o.seconds, "of each measurement", above(0));
  own.add("warmup", o.warmup, "seconds before it", at_least(0));
  own.add("connections", o.connections, "at most, with --rates", at_least(1));
  own.add("addresses", o.addresses,
          "local addresses of clients, where the server's is local: 1 for 127.0.0.1",
          at_least(1).at_most(250));
  own.add("patience", o.patience, "seconds that a client waits for an answer", above(0));
  own.add("vocabulary", o.vocabulary, "SentencePiece model by which translations' tokens are counted");
  own.add("json", o.json, "print a JSON object a line");
}

asio::ip::tcp::endpoint endpoint_of(const ServingOptions& o) {
  using asio::ip::tcp;
  asio::io_context context;
  beast::error_code error;
  const auto found = tcp::resolver(context).resolve(tcp::v4(), o.host, std::to_string(o.port), error);
  if (error) throw UsageError("--host {}: {}", o.host, error.message());
  return found.begin()->endpoint();
}

// The file's sentences without repetitions, in an order that is the same in every run.
std::vector<std::string> read_sentences(const std::string& path) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> sentences;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    const std::string text(line.substr(0, line.find('\t')));
    if (!text.empty() && seen.insert(text).second) sentences.push_back(text);
  }
  if (sentences.empty()) throw UsageError("{} has no sentences", path);
  Random random(1);
  for (size_t i = sentences.size(); i > 1; --i) std::swap(sentences[i - 1], sentences[random.below(i)]);
  return sentences;
}

// The bodies of requests, one after another through all measurements.
class Requests {
 public:
  Requests(const ServingOptions& o, std::vector<std::string> sentences)
      : o_(o), sentences_(std::move(sentences)), next_(static_cast<size_t>(o.first)) {}

  std::string body() {
    std::vector<std::string> texts;
    const bool again = next_ > 0 && random_.uniform() < o_.repeated;
    for (int64_t i = 0; i < o_.list; ++i)
      texts.push_back(sentences_[(again ? random_.below(next_) : next_++) % sentences_.size()]);
    return json_of(texts).dump();
  }
  size_t used() const { return next_; }
  bool exhausted() const { return next_ > sentences_.size(); }

 private:
  nlohmann::json json_of(const std::vector<std::string>& texts) const {
    if (o_.api == Api::deepl) return {{"text", texts}, {"source_lang", o_.from}, {"target_lang", o_.to}};
    if (o_.api == Api::dragoman) return {{"text", texts}, {"from", o_.from}, {"to", o_.to}};
    nlohmann::json json = {{"q", texts}, {"source", o_.from}, {"target", o_.to}};
    if (texts.size() == 1) json["q"] = texts[0];
    return json;
  }

  const ServingOptions& o_;
  std::vector<std::string> sentences_;
  size_t next_;
  Random random_{2};
};

// All texts of an answer, in any of the APIs.
void add_texts(const nlohmann::json& json, std::vector<std::string>& texts) {
  if (json.is_string()) texts.push_back(json.get<std::string>());
  if (json.is_array())
    for (const auto& item : json) add_texts(item, texts);
  if (!json.is_object()) return;
  for (const char* key : {"translatedText", "translations", "text"})
    if (json.contains(key)) return add_texts(json[key], texts);
}

size_t tokens_of(const std::string& body, const Vocabulary& vocabulary) {
  std::vector<std::string> texts;
  add_texts(parse_json(body), texts);
  size_t tokens = 0;
  for (const std::string& text : texts) tokens += vocabulary.encode(text).size() + 1;  // the end mark
  return tokens;
}

double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

struct Window {
  Clock::time_point begin, end;
  bool has(Clock::time_point time) const { return time >= begin && time < end; }
  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

// Speeds count what was answered within the window, latencies and statuses what was due within it.
nlohmann::ordered_json summary(const std::vector<LoadAnswer>& answers, const Window& window,
                               const Vocabulary* vocabulary) {
  std::vector<double> latencies, refusals;
  std::map<std::string, size_t> statuses;
  size_t done = 0, tokens = 0;
  for (const LoadAnswer& answer : answers) {
    if (answer.status == 200 && window.has(answer.done)) {
      ++done;
      if (vocabulary != nullptr) tokens += tokens_of(answer.body, *vocabulary);
    }
    if (!window.has(answer.due)) continue;
    ++statuses[answer.status == 0 ? "none" : std::to_string(answer.status)];
    if (answer.status == 200) latencies.push_back(answer.milliseconds());
    if (answer.status == 429 || answer.status == 503) refusals.push_back(answer.milliseconds());
  }
  std::ranges::sort(latencies);
  std::ranges::sort(refusals);
  nlohmann::ordered_json json = {
      {"requests_per_second", static_cast<double>(done) / window.seconds()},
      {"p50", quantile(latencies, 0.5)},
      {"p95", quantile(latencies, 0.95)},
      {"p99", quantile(latencies, 0.99)},
      {"most", quantile(latencies, 1)},
      {"statuses", statuses},
  };
  if (!refusals.empty())
    json["refusals"] = {{"p50", quantile(refusals, 0.5)}, {"p99", quantile(refusals, 0.99)}};
  if (vocabulary != nullptr) json["tokens_per_second"] = static_cast<double>(tokens) / window.seconds();
  return json;
}

void print(const nlohmann::ordered_json& row, bool json) {
  if (json) {
    fmt::print("{}\n", row.dump());
  } else {
    const std::string load = row.contains("clients")
                                 ? fmt::format("{} clients", row["clients"].get<int64_t>())
                                 : fmt::format("{:.0f} a second", row["rate"].get<double>());
    fmt::print("{:>14}  {:8.1f} requests/s  {:8.0f} tokens/s  p50 {:8.1f} ms  p95 {:8.1f}  p99 {:8.1f}  {}\n",
               load, row["requests_per_second"].get<double>(), row.value("tokens_per_second", 0.0),
               row["p50"].get<double>(), row["p95"].get<double>(), row["p99"].get<double>(),
               row["statuses"].dump());
  }
  std::fflush(stdout);
}

class Bench {
 public:
  explicit Bench(const ServingOptions& o)
      : o_(o),
        requests_(o, read_sentences(o.sentences)),
        load_({.server = endpoint_of(o),
               .path = path(),
               .addresses = static_cast<int>(o.addresses),
               .patience = o.patience},
              [this](size_t) { return requests_.body(); }) {
    if (!o.vocabulary.empty()) vocabulary_ = Vocabulary::read(o.vocabulary);
  }

  void run() {
    const double seconds = o_.warmup + o_.seconds;
    for (const int64_t clients : o_.clients)
      measure({{"clients", clients}}, [&] { return load_.closed(static_cast<size_t>(clients), seconds); });
    for (const double rate : o_.rates)
      measure({{"rate", rate}},
              [&] { return load_.open(rate, seconds, static_cast<size_t>(o_.connections)); });
    if (requests_.exhausted())
      fmt::print(stderr, "there were too few sentences: some were sent twice, and may have been cached\n");
  }

 private:
  std::string path() const {
    if (o_.api == Api::libretranslate) return "/translate";
    return o_.api == Api::deepl ? "/v2/translate" : "/v1/translate";
  }

  template <class Run>
  void measure(nlohmann::ordered_json row, const Run& run) {
    const double before = processor_seconds();
    const std::vector<LoadAnswer> answers = run();
    const double used = processor_seconds() - before;
    const auto duration = [](double s) {
      return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
    };
    const Window window{load_.started() + duration(o_.warmup),
                        load_.started() + duration(o_.warmup + o_.seconds)};
    row.update(summary(answers, window, vocabulary_ ? &*vocabulary_ : nullptr));
    row["own_processors"] = used / std::chrono::duration<double>(Clock::now() - load_.started()).count();
    row["sentences_used"] = requests_.used();
    print(row, o_.json);
  }

  const ServingOptions& o_;
  Requests requests_;
  Load load_;
  std::optional<Vocabulary> vocabulary_ = {};
};

}  // namespace
}  // namespace dragoman::internal

int main(int argc, char** argv) try {
  using namespace dragoman::internal;
  ServingOptions o;
  Options options;
  declare(options, o);
  CommandLine line("bench_serving", "a server's speed and latencies under load", "bench_serving");
  line.add_options(options);
  if (!line.read({argv + 1, argv + argc})) return 0;
  if (o.sentences.empty()) throw UsageError("give a file with --sentences");
  if (o.clients.empty() && o.rates.empty()) o.clients = {1, 8, 64, 512};
  Bench(o).run();
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_serving: {}\n", error.what());
  return 1;
}
