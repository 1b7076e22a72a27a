#include "convert/huggingface/languages.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/quotes.h"
#include "text/spm_fields.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* pieces_file = "sentencepiece.bpe.model";
constexpr int64_t special_tokens = 4;

// For folders without a list of them: those of the program that saved the model, in the order of their tokens.
constexpr const char* m2m100_languages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr "
    "ht hu "
    "hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl "
    "ps pt "
    "ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr const char* wmt21_languages = "en ha is ja cs ru zh de";
constexpr const char* mbart_languages =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM "
    "ne_NP "
    "nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK "
    "ml_IN "
    "mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";
constexpr int64_t mbart25 = 25, mbart50 = 52;

// The tokens of a vocabulary as they become known.
class TokenPlaces {
 public:
  TokenPlaces(int64_t rows, const std::string& path) : all_(static_cast<size_t>(rows)), path_(path) {}

  // The first name of a token counts.
  void place(const std::string& token, int64_t id, const std::string& file) {
    if (id < 0 || id >= std::ssize(all_))
      throw Error("{}: {} is token {}, but vocab_size in {} is {}", file, in_quotes(token), id, path_,
                  all_.size());
    std::string& place = all_[static_cast<size_t>(id)];
    if (!place.empty()) return;
    place = token;
    if (std::string name = language_name(token); !name.empty() && id >= special_tokens && !pieces_only_)
      languages_.emplace_back(std::move(name), static_cast<int32_t>(id));
  }

  // What is placed from here on may be a language.
  void end_pieces() {
    pieces_only_ = false;
    pieces_ = first_free();
  }

  bool has_languages() const { return !languages_.empty(); }
  int64_t pieces() const { return pieces_; }
  int64_t rows() const { return std::ssize(all_); }

  // At the first places that are free, in this order.
  void append(const std::string& token, const std::string& file) {
    if (std::ranges::find(all_, token) == all_.end()) place(token, first_free(), file);
  }

  TokenTable table() && {
    std::ranges::sort(languages_, {}, [](const auto& language) { return language.second; });
    TokenTable table = {.unknown = 3, .start = 2, .end = 2};
    table.suppressed = {0, 1};
    for (size_t id = 0; id < all_.size(); ++id) {
      const bool unused = all_[id].empty();
      if (unused) all_[id] = fmt::format("<unused {}>", id);
      if (unused || all_[id] == "<mask>") table.suppressed.push_back(static_cast<int32_t>(id));
    }
    table.tokens = std::move(all_);
    table.languages.tokens = std::move(languages_);
    return table;
  }

 private:
  int64_t first_free() const {
    return std::ranges::find_if(all_, [](const std::string& token) { return token.empty(); }) - all_.begin();
  }

  std::vector<std::string> all_;
  std::vector<std::pair<std::string, int32_t>> languages_;
  std::string path_;
  bool pieces_only_ = true;
  int64_t pieces_ = 0;
};

// The numbers of vocab.json where there is one; else those of the .spm file, which has two tokens fewer before its
// pieces: it calls the first three <unk>, <s> and </s>.
void place_pieces(const std::string& folder, const Vocabulary& pieces, const std::string& path,
                  TokenPlaces& tokens) {
  if (fs::exists(folder + "/vocab.json")) {
    const Settings file(folder, "vocab.json");
    for (const auto& [token, id] : file.values().items())
      tokens.place(token, file.integer(token.c_str()), file.path());
  } else {
    int64_t id = 0;
    for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) tokens.place(token, id++, path);
    for (int32_t i = 3; i < pieces.size(); ++i) tokens.place(pieces.piece(i), i + 1, path);
  }
  tokens.end_pieces();
}

// The value of a key; null where there is none.
json value_of(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

// −1 if the text is not a number.
int64_t number_in(const std::string& text) {
  int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// {"256001": {"content": "ace_Arab", ...}, ...} of tokenizer_config.json, {"ace_Arab": 256001, ...} of
// added_tokens.json, {"content": ..., "id": ...} of tokenizer.json: whichever file lists the ids of tokens.
void place_added_tokens(const std::string& folder, TokenPlaces& tokens) {
  const auto place = [&](const Settings& file, const json& content, const json& id) {
    if (!content.is_string() || !id.is_number_integer() || id < 0)
      throw Error("{}: the added token {} is not a string with an id", file.path(), id.dump());
    if (id >= tokens.pieces()) tokens.place(content, id, file.path());
  };
  if (fs::exists(folder + "/tokenizer_config.json")) {
    const Settings file(folder, "tokenizer_config.json");
    if (file.has("added_tokens_decoder")) {
      for (const auto& [id, token] : file.values()["added_tokens_decoder"].items())
        place(file, value_of(token, "content"), number_in(id));
    }
  }
  if (!tokens.has_languages() && fs::exists(folder + "/added_tokens.json")) {
    const Settings file(folder, "added_tokens.json");
    for (const auto& [token, id] : file.values().items()) place(file, token, id);
  }
  if (!tokens.has_languages() && fs::exists(folder + "/tokenizer.json")) {
    const Settings file(folder, "tokenizer.json");
    if (file.has("added_tokens")) {
      for (const json& token : file.values()["added_tokens"])
        place(file, value_of(token, "content"), value_of(token, "id"));
    }
  }
}

// Lists of only the languages, whose tokens follow the pieces in the same order.
void place_listed_languages(const std::string& folder, TokenPlaces& tokens) {
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    if (tokens.has_languages() || !fs::exists(folder + "/" + name)) continue;
    const Settings file(folder, name);
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
      if (tokens.has_languages() || !file.has(key)) continue;
      for (const json& token : file.values()[key]) {
        const json text = token.is_object() ? value_of(token, "content") : token;
        if (text.is_string()) tokens.append(text, file.path());
      }
    }
  }
}

std::string languages_of_program(bool mbart, const std::string& folder, const TokenPlaces& tokens) {
  if (mbart) return tokens.rows() - tokens.pieces() > mbart25 ? mbart_languages : "";
  if (fs::exists(folder + "/tokenizer_config.json") &&
      Settings(folder, "tokenizer_config.json").text("language_codes", "") == "wmt21")
    return wmt21_languages;
  return m2m100_languages;
}

void place_known_languages(bool mbart, const std::string& folder, TokenPlaces& tokens) {
  if (tokens.has_languages()) return;
  std::istringstream names(languages_of_program(mbart, folder, tokens));
  const bool all = tokens.rows() - tokens.pieces() > mbart50;
  int64_t id = tokens.pieces(), placed = 0;
  for (std::string name; names >> name; ++placed) {
    if (mbart && !all && placed == mbart25) break;
    tokens.place(mbart ? name : "__" + name + "__", id++, folder);
  }
  if (mbart) tokens.place("<mask>", id, folder);
}

std::string path_of_pieces(const ImportRequest& request) {
  if (!request.vocabularies.empty()) return request.vocabularies[0];
  const std::string path = request.source + "/" + pieces_file;
  if (fs::exists(path)) return path;
  throw Error(
      "{} has no {}: take it from the model that this one was fine-tuned from, and name it with --vocab",
      request.source, pieces_file);
}

bool are_lower(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool are_upper(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Where the source has its language, and what the decoder reads first.
void set_places(const std::string& folder, bool mbart, int64_t rows, int64_t pieces, Languages& languages) {
  std::string tokenizer;
  bool legacy = false;
  if (fs::exists(folder + "/tokenizer_config.json")) {
    const Settings file(folder, "tokenizer_config.json");
    tokenizer = file.text("tokenizer_class", "");
    legacy = file.flag("legacy_behaviour", false);
  }
  const bool first_mbart =
      mbart && (tokenizer.empty() ? rows - pieces <= mbart50 : !tokenizer.starts_with("MBart50"));
  languages.position =
      first_mbart || legacy ? Languages::TokenPosition::after_end : Languages::TokenPosition::first;
  languages.replaces_start = first_mbart;
}

}  // namespace

// __fr__, __fra__, fr_XX, fra_XX or fra_Latn, and nothing like ______, __init__ or to_do.
std::string language_name(const std::string& token) {
  const size_t size = token.size(), line = token.find('_');
  if (size > 4 && token.starts_with("__") && token.ends_with("__")) {
    std::string name = token.substr(2, size - 4);
    return (name.size() == 2 || name.size() == 3) && are_lower(name) ? name : "";
  }
  if ((line != 2 && line != 3) || !are_lower(token.substr(0, line))) return "";
  const std::string rest = token.substr(line + 1);
  const bool is_country = rest.size() == 2 && are_upper(rest);
  const bool is_script =
      line == 3 && rest.size() == 4 && are_upper(rest.substr(0, 1)) && are_lower(rest.substr(1));
  return is_country || is_script ? token : "";
}

Vocabularies read_many_languages(const ImportRequest& request, const Settings& settings, int64_t rows) {
  const std::string &folder = request.source, path = path_of_pieces(request), file = read_file(path);
  const bool mbart = settings.text("model_type", "") == "mbart";
  TokenPlaces tokens(rows, settings.path());
  place_pieces(folder, Vocabulary(file, path, BoundaryTokens{.start = -1, .end = -1}), path, tokens);
  const int64_t pieces = tokens.pieces();
  place_added_tokens(folder, tokens);
  place_listed_languages(folder, tokens);
  place_known_languages(mbart, folder, tokens);
  TokenTable table = std::move(tokens).table();
  set_places(folder, mbart, rows, pieces, table.languages);
  const auto both = std::make_shared<const Vocabulary>(with_token_table(file, table), path);
  return {both, both};
}

std::string language_of(const Languages& languages, int64_t token) {
  for (const auto& [name, id] : languages.tokens)
    if (id == token) return name;
  return "";
}

}  // namespace dragoman::internal
