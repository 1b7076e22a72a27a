// Network: a Transformer whose pieces are called one at a time, on plain numbers: to see what each computes, to compare
// another implementation with it, or to write a training loop of one's own.
//
//   dragoman::Network network(dragoman::NewNetwork{.source_vocabulary = 100, .target_vocabulary = 100});
//   const dragoman::Matrix memory = network.encode({1, 5, 6, 4, 2});
//   const dragoman::Matrix logits = network.logits(network.decode({1, 7}, memory));  // of the third token: the last row
//
// All of it is in fp32 and without dropout, and a matrix has a row for each token. For speed there are translator.h and
// training.h, which run the same pieces on many sentences at once. Every member function may be called from any thread;
// one computes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/options.h"

namespace dragoman {

struct Matrix {
  size_t rows = 0, columns = 0;
  std::vector<float> values;  // row by row
};

// Of a parameter, or its gradient: "encoder.layers.0.feed_forward.inner.weight". A bias has one row.
struct NamedMatrix {
  std::string name;
  Matrix values;
};

enum class Stack { encoder, decoder };

// A sentence as numbers of the vocabulary.
using Ids = std::vector<int64_t>;

// For the loss. The decoder reads the target without its last token, and predicts it without its first: a target begins
// with the start symbol and ends with the end symbol.
struct IdPair {
  Ids source, target;
};

struct Gradients {
  double loss = 0;
  std::vector<NamedMatrix> values;  // of all parameters that learn
};

// A network to be made, with random weights: those that training begins with for this seed.
struct NewNetwork {
  Options options = {};  // of recipes' [model], for other values than its defaults: {"model.d_model", 256}
  int64_t source_vocabulary = 0, target_vocabulary = 0;  // words; a language model has no source
  uint64_t seed = 1;
};

struct NetworkSettings {
  std::string device = "auto";  // or cpu, cuda, cuda:1: one device
  int threads = 0;              // 0: all processors
};

class DRAGOMAN_API Network {
 public:
  // A model's folder; its weights must be in fp32.
  explicit Network(const std::string& folder, const NetworkSettings& settings = {});
  explicit Network(const NewNetwork& model, const NetworkSettings& settings = {});
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  // The encoder's output: tokens × d_model.
  Matrix encode(const Ids& source);
  // The decoder's output, tokens × d_model: each row has seen its own token, those before it, and the memory, which is
  // what encode() returned. A language model has no memory.
  Matrix decode(const Ids& target, const Matrix& memory = {});
  // The scores of all words after each row that decode() returned: tokens × vocabulary.
  Matrix logits(const Matrix& states);

  // Smaller pieces. Layers are counted from 0; x is any matrix of d_model columns. A sublayer comes without its norm and
  // residual connection.
  Matrix embed(Stack stack, const Ids& ids);     // scaled, with positions: what the stack's first layer reads
  Matrix positions(Stack stack, int64_t count);  // that are added to embeddings
  Matrix self_attention(Stack stack, int64_t layer, const Matrix& x);
  Matrix cross_attention(int64_t layer, const Matrix& x, const Matrix& memory);
  Matrix feed_forward(Stack stack, int64_t layer, const Matrix& x);

  // The cross-entropy with label smoothing, averaged over the target tokens of all pairs; and its gradients.
  double loss(const std::vector<IdPair>& pairs, double label_smoothing = 0);
  Gradients gradients(const std::vector<IdPair>& pairs, double label_smoothing = 0);

  // Texts as ids, a target with its start and end symbols; and back. Only a folder that was opened has vocabularies.
  // Languages: of a model that has several; empty: the folder's defaults.
  Ids source_ids(const std::string& text, const std::string& from = {}, const std::string& to = {});
  Ids target_ids(const std::string& text, const std::string& from = {}, const std::string& to = {});
  std::string target_text(const Ids& ids);

  // Copies. Those that are set keep their shapes; where one has another, an Error names it, and nothing is set.
  std::vector<NamedMatrix> parameters();
  void set_parameters(const std::vector<NamedMatrix>& values);

  // The model's configuration, as the section "model" of config.json has it.
  std::string config() const;

  // Writes a new model folder, with the vocabularies of the folder that was opened; a new network has none.
  void save(const std::string& folder);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman
