#include "model/weights_file.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/quotes.h"
#include "kernels/context.h"
#include "model/folder.h"
#include "model/tensor_checksums.h"
#include "nn/low_rank.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr const char* base_key = "base";
constexpr const char* fingerprint_key = "base_fingerprint";

Precision precision_of(const std::string& path, const SafetensorsFile& file) {
  const auto found = file.metadata().find("precision");
  if (found == file.metadata().end()) return Precision::fp32;
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::int8})
    if (found->second == name_of(precision)) return precision;
  throw Error("{} has weights in {}, which this version does not support: use a newer one", path,
              in_quotes(found->second));
}

// Empty where the file is no update.
std::string base_folder_of(const std::string& path, const SafetensorsFile& file) {
  const auto found = file.metadata().find(base_key);
  if (found == file.metadata().end()) return {};
  return (fs::path(path).parent_path() / found->second).lexically_normal().string();
}

SafetensorsFile open_base(const std::string& path, const SafetensorsFile& file, const std::string& folder) {
  if (!fs::exists(weights_path(folder)))
    throw Error("{} is an update of the model in {}, which is not there: put it back, or adapt another one",
                path, folder);
  SafetensorsFile base = SafetensorsFile::open(weights_path(folder));
  if (base.metadata().contains(base_key))
    throw Error("{} is an update of {}, which is an update itself: adapt the model that this one is of", path,
                folder);
  if (fingerprint(base.metadata()) != file.metadata(fingerprint_key))
    throw Error("{} is an update of the model in {}, which has changed since: adapt that model again", path,
                folder);
  return base;
}

WeightsFile::Values sum(std::span<const float> weight, std::span<const float> in, std::span<const float> out,
                        int64_t rows, int64_t columns) {
  const auto sums = std::make_shared<std::vector<float>>(weight.begin(), weight.end());
  const int64_t rank = std::ssize(in) / rows;
  CpuContext context(1);
  chosen_kernels().products.multiply(context, {in.data(), rows, rank, rank},
                                     {out.data(), rank, columns, columns},
                                     {sums->data(), rows, columns, columns}, {.accumulate = true});
  return {*sums, sums};
}

int64_t rank_of(const SafetensorsFile& file, const std::string& out) {
  const std::vector<int64_t>& shape = file.find(out).shape;
  return shape.size() == 2 ? shape[0] : 1;
}

void check_names_of(const std::string& path, const SafetensorsFile& file,
                    const std::vector<std::string>& names) {
  for (const TensorEntry& entry : file.entries()) {
    if (std::ranges::binary_search(names, entry.name)) continue;
    throw Error(
        "{} has a tensor {} that the model does not have: the file and config.json do not belong together",
        path, in_quotes(entry.name));
  }
}

}  // namespace

const char* name_of(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : precision == Precision::bf16 ? "bf16" : "int8";
}

WeightsFile::WeightsFile(const std::string& path)
    : path_(path), file_(SafetensorsFile::open(path)), precision_(precision_of(path, file_)) {
  base_folder_ = base_folder_of(path, file_);
  if (!base_folder_.empty()) base_ = open_base(path, file_, base_folder_);
}

const SafetensorsFile& WeightsFile::with(std::string_view name) const {
  return base_ && !file_.has(name) ? *base_ : file_;
}

WeightsFile::Values WeightsFile::values(const Parameter& parameter) const {
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  const std::string &name = parameter.name, in = low_rank_in(name), out = low_rank_out(name);
  const std::span<const float> own = with(name).floats(name, rows, columns);
  if (!file_.has(in) && !file_.has(out)) return {own, nullptr};
  const int64_t rank = rank_of(file_, out);
  return sum(own, file_.floats(in, rows, rank), file_.floats(out, rank, columns), rows, columns);
}

void WeightsFile::check_names(const std::vector<std::string>& names) const {
  std::vector<std::string> all = names;
  for (const std::string& name : names)
    for (const std::string& of_update : {low_rank_in(name), low_rank_out(name)})
      if (file_.has(of_update)) all.push_back(of_update);
  std::ranges::sort(all);
  check_names_of(path_, file_, all);
  if (base_) check_names_of(weights_path(base_folder_), *base_, all);
}

void WeightsFile::verify(int threads) const {
  file_.verify(threads);
  if (base_) base_->verify(threads);
}

Metadata update_metadata(const std::string& folder, const std::string& base) {
  const SafetensorsFile file = SafetensorsFile::open(existing_weights(base));
  return {{"format", "dragoman 1"},
          {base_key, fs::proximate(fs::absolute(base), fs::absolute(folder)).string()},
          {fingerprint_key, fingerprint(file.metadata())}};
}

}  // namespace dragoman::internal
