// Adapting a model to a user: from the segments that they translated to a model that translates as they do, in stages,
// each in a folder inside OUT.dragoman-work (student/stage.h):
//
//   segments   the user's, cleaned, and what is held out of them
//   general    other text, so that the model forgets nothing, and what is held out of that
//   tuned-W    the run that fine-tunes the model's weights W (all, low_rank, biases) on both
//   choice-W   how much of that is kept, measured on what is held out
//
// Everything goes on where it was stopped, and to the same bits where max_steps alone limits it. At the end OUT, a
// model like any other, is there as a whole or not at all, with the figures in adaptation.json, and OUT.dragoman-work
// is removed. A server reads them there (serve/models/adapted.h).
#pragma once

#include "adapt/choice.h"
#include "adapt/config.h"

namespace dragoman::internal {

// Where the choice is not better, OUT is left as it is, and so is OUT.dragoman-work. The same inputs are adapted to
// once.
AdaptChoice adapt_model(AdaptConfig config);

}  // namespace dragoman::internal
