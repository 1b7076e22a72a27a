// What confidence is computed from: a few numbers for each word of a translation, and for all of it.
#pragma once

#include <array>
#include <vector>

#include "confidence/scored_text.h"

namespace dragoman::internal {

// By these names calibrations keep their weights. A word's probability is that of its tokens together. Roots are of
// minus the log-probability: between the two a logistic regression finds the curve that fits.
inline constexpr std::array word_feature_names = {
    "log_probability",           // of the word
    "root",                      //
    "probability",               //
    "least_log_probability",     // of its tokens
    "previous_log_probability",  // of the word before; 0 for the first
    "previous_root",             //
    "next_log_probability",      // of the word behind; 0 for the last
    "next_root",                 //
    "mean_log_probability",      // of the translation's tokens
    "mean_root",                 //
    "least_in_text",             // the log-probability of the least likely word
    "log_words",                 // the logarithm of the number of words
    "tokens",                    // of the word
    "punctuation",               // 1: the word has no letter and no digit
};
using WordFeatures = std::array<double, word_feature_names.size()>;

// One for each word of word_spans(text.text).
std::vector<WordFeatures> word_features(const ScoredText& text);

inline constexpr std::array text_feature_names = {
    "mean_log_probability",   // of its tokens
    "probability",            // the exponential of that
    "total_log_probability",  // of its tokens
    "least_log_probability",  // of its words
    "mean_probability",       // of its words
    "log_words",              //
    "log_ratio",              // the logarithm of its words for each word of the source
};
using TextFeatures = std::array<double, text_feature_names.size()>;

TextFeatures text_features(const ScoredText& text);

}  // namespace dragoman::internal
