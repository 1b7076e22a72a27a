#!/usr/bin/env python3
"""The perplexity of a text by an n-gram model of subwords: what a language model is to be compared with.

    pip install sentencepiece
    tools/experiments/language_model/kneser_ney.py --vocabulary models/tatoeba-en-lm/shared.spm --train train.en --test valid.en

Interpolated modified Kneser-Ney smoothing (Chen and Goodman, 1999). With c the counts of the highest order, and of a
lower one the number of different words before the n-gram, unless it begins a sentence,

    p(w | h) = max(0, c(h w) - D(c(h w))) / sum c(h ·)  +  g(h) p(w | h without its first word)

where D is D1, D2 or D3 for counts of 1, 2, and more, D1 = 1 - 2 Y n2 / n1, D2 = 2 - 3 Y n3 / n2, D3 = 3 - 4 Y n4 / n3 and
Y = n1 / (n1 + 2 n2), n1 to n4 being the numbers of n-grams with these counts; g(h) is what makes the sum 1. Below the
unigrams all words are equally probable. As in `dragoman score --summary`, the end of a line counts as a subword, a word
and a byte.
"""
import argparse
import collections
import math

BEGIN, END = "<s>", "</s>"


def lines_of(path, column):
    with open(path, encoding="utf-8") as file:
        for line in file:
            text = line.rstrip("\n")
            yield text.split("\t")[column - 1] if column else text


def discounts(counts):
    n = collections.Counter(min(count, 5) for count in counts.values())
    y = n[1] / (n[1] + 2 * n[2])
    return [0] + [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]


class Model:
    def __init__(self, order, sentences, words):
        self.order, self.words = order, words
        counts = [collections.Counter() for _ in range(order + 1)]  # of each length
        for sentence in sentences:
            tokens = [BEGIN, *sentence, END]
            for n in range(1, order + 1):
                for i in range(len(tokens) - n + 1):
                    counts[n][tuple(tokens[i:i + n])] += 1
        for n in range(1, order):
            different = collections.Counter(gram[1:] for gram in counts[n + 1])
            counts[n] = collections.Counter({gram: count if gram[0] == BEGIN else different[gram]
                                             for gram, count in counts[n].items()})
        del counts[1][(BEGIN,)]  # nothing predicts it
        self.counts = counts
        self.discounts = [None] + [discounts(counts[n]) for n in range(1, order + 1)]
        self.totals = [None] + [collections.Counter() for _ in range(order)]
        self.left = [None] + [collections.Counter() for _ in range(order)]  # what the discounts take from a history
        for n in range(1, order + 1):
            for gram, count in counts[n].items():
                self.totals[n][gram[:-1]] += count
                self.left[n][gram[:-1]] += self.discounts[n][min(count, 3)]

    def probability(self, history, word):
        p = 1 / self.words
        for n in range(1, min(len(history) + 1, self.order) + 1):
            h = tuple(history[len(history) - n + 1:])
            total = self.totals[n].get(h)
            if not total:
                break
            count = self.counts[n].get(h + (word,), 0)
            p = (max(0, count - self.discounts[n][min(count, 3)]) + self.left[n][h] * p) / total
        return p


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", required=True, help="a SentencePiece model")
    parser.add_argument("--train", required=True, help="text, a sentence a line")
    parser.add_argument("--column", type=int, default=0, help="of tab-separated training text, the first is 1")
    parser.add_argument("--test", required=True)
    parser.add_argument("--order", type=int, default=5)
    args = parser.parse_args()

    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(model_file=args.vocabulary)
    train = (pieces.encode(text) for text in lines_of(args.train, args.column) if text.strip())
    model = Model(args.order, train, pieces.get_piece_size())
    log_p = tokens = words = size = 0
    for text in lines_of(args.test, 0):
        sentence = [*pieces.encode(text), END]
        history = [BEGIN]
        for token in sentence:
            log_p += math.log(model.probability(history, token))
            history.append(token)
        tokens += len(sentence)
        words += len(text.split()) + 1
        size += len(text.encode()) + 1
    per_token, per_word, per_byte = (math.exp(-log_p / n) for n in (tokens, words, size))
    print(f"perplexity {per_token:.4f} a subword, {per_word:.4f} a word, {per_byte:.4f} a byte "
          f"({math.log2(per_byte):.4f} bits)")


if __name__ == "__main__":
    main()
