// A program that uses the installed library: trains a tiny model on the text of its argument, and translates with it.
#include <iostream>

#include <dragoman/dragoman.h>

int main(int argc, char** argv) {
  const std::string corpus = argv[argc - 2], folder = argv[argc - 1];
  const auto trained = dragoman::train({.recipe_text = "[model]\nd_model = 32\nheads = 2\nd_ff = 64\n",
                                        .options = {{"data.source", corpus},
                                                    {"data.target", corpus},
                                                    {"vocabulary.size", 60},
                                                    {"model.encoder_layers", 1},
                                                    {"model.decoder_layers", 1},
                                                    {"training.max_steps", 3}},
                                        .out = folder});
  dragoman::Translator translator(folder);
  const std::string text = translator.translate("a line", {{"beam", 2}, {"max-length", 8}}).text();
  const std::string all[] = {text};
  std::cout << dragoman::version() << ": " << trained.steps << " steps, BLEU "
            << dragoman::bleu(all, all).score << "\n";
  try {
    dragoman::Translator("no such folder");
  } catch (const dragoman::Error& error) {
    std::cout << "error: " << error.what() << "\n";
  }
}
