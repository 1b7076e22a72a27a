// What terms cost and do: sentences translated without terms, and with some whose targets come from the reference.
//
//   bench_terms MODEL SOURCE REFERENCE [SENTENCES [BEAM [PRECISION]]]
//
// A term is a word of the reference that the model aligns to one word of the source, and that word to nothing else;
// "new" ones are not in the model's own translation, "odd" ones are words of other references, which take the place of
// the word in its reference, too. Times are user CPU time on one thread, medians of five interleaved
// runs.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "dragoman/dragoman.h"
#include "text/scripts.h"
#include "text/spans.h"
#include "text/unicode.h"

namespace {

using dragoman::internal::code_points;

using Lines = std::vector<std::string>;

Lines read_lines(const std::string& path, size_t most) {
  std::ifstream file(path);
  Lines lines;
  for (std::string line; lines.size() < most && std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string part(const std::string& text, dragoman::Span span) {
  const std::u32string points = code_points(text);
  std::string result;
  for (size_t i = span.begin; i < span.end; ++i) result += dragoman::internal::to_utf8(points[i]);
  return result;
}

dragoman::Span without_punctuation(const std::string& text, dragoman::Span span) {
  const std::u32string points = code_points(text);
  const auto is_word = [&](size_t i) { return dragoman::internal::is_of_spaced_word(points[i]); };
  while (span.begin < span.end && !is_word(span.begin)) ++span.begin;
  while (span.begin < span.end && !is_word(span.end - 1)) --span.end;
  return span;
}

// How often a word stands in a text by itself.
size_t count_word(const std::string& text, const std::string& word) {
  const std::u32string in = code_points(text), of = code_points(word);
  const auto is_word = [&](size_t i) {
    return i < in.size() && dragoman::internal::is_of_spaced_word(in[i]);
  };
  size_t count = 0;
  for (size_t at = in.find(of); at != in.npos; at = in.find(of, at + 1)) {
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + of.size())) ++count;
  }
  return count;
}

// Words of the reference and of the source that are aligned to each other alone.
std::vector<dragoman::Term> possible_terms(const std::string& source, const std::string& reference,
                                           const dragoman::Score& score) {
  std::map<size_t, int> uses;
  for (const auto& pair : score.alignment) ++uses[pair.source];
  std::vector<dragoman::Term> terms;
  for (const auto& pair : score.alignment) {
    const dragoman::Span from = without_punctuation(source, pair.source_span),
                         to = without_punctuation(reference, pair.target_span);
    const std::string target = part(reference, to);
    if (uses[pair.source] > 1 || from.begin == from.end || to.end - to.begin < 4) continue;
    if (count_word(reference, target) == 1) terms.push_back({from, {target}});
  }
  return terms;
}

enum class Kind { any, absent, odd };

struct Task {
  std::string name;
  std::vector<size_t> lines;  // their numbers
  Lines references;
  std::vector<std::vector<dragoman::Term>> terms;
};

double user_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

class Bench {
 public:
  Bench(const std::string& model, const dragoman::TranslatorSettings& settings, Lines sources,
        Lines references, int64_t beam)
      : translator_(model, settings),
        sources_(std::move(sources)),
        references_(std::move(references)),
        options_{{"beam", beam}} {
    std::vector<dragoman::TextPair> pairs;
    for (size_t i = 0; i < sources_.size(); ++i) pairs.push_back({sources_[i], references_[i]});
    scores_ = translator_.score(pairs, {.alignment = true});
    std::vector<size_t> all(sources_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    own_ = translate({"", all, {}, {}}, false);
  }

  void report(const std::string& name, size_t count, Kind kind) {
    const Task task = make_task(name, count, kind);
    Lines without, with;
    std::array<double, 5> seconds_without, seconds_with;
    for (size_t run = 0; run < 5; ++run) {
      double begin = user_seconds();
      without = translate(task, false);
      seconds_without[run] = user_seconds() - begin;
      begin = user_seconds();
      with = translate(task, true);
      seconds_with[run] = user_seconds() - begin;
    }
    std::ranges::sort(seconds_without), std::ranges::sort(seconds_with);
    const double before = seconds_without[2], after = seconds_with[2];
    std::cout << fmt::format("{:12} {:5} lines  time {:6.3f} -> {:6.3f} s = {:.3f}  ", name,
                             task.lines.size(), before, after, after / before);
    print_quality(task, without, with);
  }

 private:
  Task make_task(const std::string& name, size_t count, Kind kind) const {
    Task task = {name, {}, {}, {}};
    dragoman::internal::Random random(7);
    for (size_t i = 0; i < sources_.size(); ++i) {
      auto terms = possible_terms(sources_[i], references_[i], scores_[i]);
      if (kind == Kind::absent)
        std::erase_if(terms, [&](const auto& t) { return count_word(own_[i], t.targets[0]) > 0; });
      while (terms.size() > count)
        terms.erase(terms.begin() + static_cast<int64_t>(random.below(terms.size())));
      if (terms.size() < count) continue;
      task.lines.push_back(i);
      task.references.push_back(references_[i]);
      for (auto& term : terms) {
        if (kind == Kind::odd) make_odd(term.targets[0], task.references.back(), random);
      }
      task.terms.push_back(terms);
    }
    return task;
  }

  // Another word of four letters or more in place of the target.
  void make_odd(std::string& target, std::string& reference, dragoman::internal::Random& random) const {
    for (;;) {
      const std::string& line = references_[random.below(references_.size())];
      const auto words = dragoman::internal::word_spans(line);
      if (words.empty()) continue;
      const auto word = words[random.below(words.size())];
      const std::string other = part(line, without_punctuation(line, {word.begin, word.end}));
      if (code_points(other).size() < 4 || count_word(reference, other) > 0) continue;
      const size_t at = reference.find(target);
      reference.replace(at, target.size(), other);
      target = other;
      return;
    }
  }

  Lines translate(const Task& task, bool with_terms) {
    std::vector<std::future<dragoman::Translation>> futures;
    for (size_t i = 0; i < task.lines.size(); ++i) {
      dragoman::Request request = {.text = sources_[task.lines[i]], .options = options_};
      if (with_terms) request.terms = task.terms[i];
      futures.push_back(translator_.submit(std::move(request)));
    }
    Lines lines;
    flagged_ = 0;
    for (auto& future : futures) {
      const dragoman::Translation done = future.get();
      flagged_ += done.terms_missed;
      lines.push_back(done.text());
    }
    return lines;
  }

  static std::string without_terms(std::string text, const std::vector<dragoman::Term>& terms) {
    for (const auto& term : terms) {
      if (const size_t at = text.find(term.targets[0]); at != text.npos)
        text.erase(at, term.targets[0].size());
    }
    return text;
  }

  void print_quality(const Task& task, const Lines& without, const Lines& with) const {
    size_t terms = 0, met_before = 0, met = 0, once = 0;
    const Lines& references = task.references;
    Lines rest_without, rest_with, rest_of_references;
    for (size_t i = 0; i < task.lines.size(); ++i) {
      for (const auto& term : task.terms[i]) {
        const size_t found = count_word(with[i], term.targets[0]);
        ++terms, met += found > 0, once += found == 1,
            met_before += count_word(without[i], term.targets[0]) > 0;
      }
      rest_without.push_back(without_terms(without[i], task.terms[i]));
      rest_with.push_back(without_terms(with[i], task.terms[i]));
      rest_of_references.push_back(without_terms(references[i], task.terms[i]));
    }
    const auto percent = [&](size_t n) {
      return 100.0 * static_cast<double>(n) / static_cast<double>(terms);
    };
    std::cout << fmt::format(
        "met {:.1f} -> {:.2f} %, once {:.2f} %, flagged {}  BLEU {:.2f} -> {:.2f}, of the rest {:.2f} -> "
        "{:.2f}\n",
        percent(met_before), percent(met), percent(once), flagged_, dragoman::bleu(without, references).score,
        dragoman::bleu(with, references).score, dragoman::bleu(rest_without, rest_of_references).score,
        dragoman::bleu(rest_with, rest_of_references).score);
  }

  dragoman::Translator translator_;
  const Lines sources_, references_;
  const dragoman::Options options_;
  std::vector<dragoman::Score> scores_;
  Lines own_;
  int64_t flagged_ = 0;
};

dragoman::Precision precision_named(const std::string& name) {
  using dragoman::Precision;
  const std::map<std::string, Precision> names = {{"as_saved", Precision::as_saved},
                                                  {"fp32", Precision::fp32},
                                                  {"bf16", Precision::bf16},
                                                  {"int8", Precision::int8}};
  const auto found = names.find(name);
  if (found == names.end())
    throw dragoman::Error("PRECISION is \"" + name + "\": use as_saved, fp32, bf16 or int8");
  return found->second;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::cerr << "usage: bench_terms MODEL SOURCE REFERENCE [SENTENCES [BEAM [PRECISION]]]\n";
    return 2;
  }
  try {
    const size_t most = count > 4 ? std::stoul(arguments[4]) : 500;
    const int64_t beam = count > 5 ? std::stol(arguments[5]) : 4;
    const auto precision = count > 6 ? precision_named(arguments[6]) : dragoman::Precision::as_saved;
    Bench bench(arguments[1], {.threads = 1, .precision = precision}, read_lines(arguments[2], most),
                read_lines(arguments[3], most), beam);
    for (const size_t terms : {1, 2, 3}) {
      bench.report(fmt::format("{}", terms), terms, Kind::any);
      bench.report(fmt::format("{}, new", terms), terms, Kind::absent);
      bench.report(fmt::format("{}, odd", terms), terms, Kind::odd);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
