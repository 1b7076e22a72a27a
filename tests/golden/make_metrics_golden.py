#!/usr/bin/env python3
"""Writes fixtures/metrics_*: translations with mistakes, their references, and their scores by sacreBLEU 2.x.

    pip install sacrebleu==2.6.0 && tests/golden/make_metrics_golden.py FILE-OF-FRENCH-SENTENCES

The sentences are from tatoeba.org, obtained through manythings.org/anki (CC BY 2.0 FR); the cases below are ours.
"""
import json
import pathlib
import random
import sys

from sacrebleu.metrics import BLEU, CHRF

fixtures = pathlib.Path(__file__).resolve().parent / "fixtures"
random = random.Random(1)

# Hard cases for tokenization, white space and lower-casing: (hypothesis, reference).
hard_cases = [
    ("", ""),
    ("", "Rien du tout."),
    ("Quelque chose.", ""),
    ("   ", "\t"),
    ("a", "a"),
    ("a b", "a b"),
    ("a b c", "a b c"),
    ("?", "!"),
    ("Il a dit &quot;non&quot; &amp; rien d'autre.", 'Il a dit "non" & rien d\'autre.'),
    ("&amp;quot; &lt;b&gt;gras&lt;/b&gt; &amp;amp;", "&quot; <b>gras</b> &"),
    ("&quot &amp &apos; &#39; &nbsp;", "\" & ' ' "),
    ("<skipped>une<skipped> <skip>", "une <skip>"),
    ("1,234.56 et 1.234,56 et 1 234,56", "1,234.56 et 1.234,56 et 1\u202f234,56"),
    ("€18.10, 18,10€ et $3.", "18,10 € et 3 $."),
    (".5 et 5. et 5.a et a.5 et .,., et ...", ".5 et 5. et 5.a et a.5 et ,.,. et …"),
    ("x...y..z.", "x...y..z ."),
    ("Le 24-12-2020, à 12h30-13h; n° 3-a, a-3, 3 - 4, -5", "Le 24-12-2020 à 12h30–13h ; nº 3-a, a-3, 3-4, −5"),
    ("vingt-et-un, c'est-à-dire 21--22", "vingt-et-un , c' est-à-dire 21 — 22"),
    ("http://exemple.fr/a?b=c&d=e#f (voir [1], {2}, ~3)", "http://exemple.fr/a?b=c&d=e#f (voir [1], {2}, ~3)."),
    ("_souligné_ *gras* `code` ^2 50% a+b=c |x| \\n @moi", "souligné gras code ^2 50 % a + b = c |x| \\n @moi"),
    ("«Bonjour», dit-elle… “Oui”, ‘non’.", "« Bonjour », dit-elle... \"Oui\", 'non'."),
    ("L’été, l'été; naïveté, œuvre, Ærø.", "L'été, l’été ; naïvete\u0301, oeuvre, ÆRØ."),
    ("ÉTÉ STRASSE Straße İstanbul Iğdır ΟΔΟΣ ΣΑΣ Σ", "été strasse STRASSE istanbul ığdır οδος σας σ"),
    ("ǅ Ǆ ǆ Ꭰ ꭰ Ა ა 𐐀 𐐨 Ⅷ Ⓐ K Å ẞ ϴ", "ǆ ǆ ǆ ꭰ ꭰ ა ა 𐐨 𐐨 ⅷ ⓐ k å ß θ"),
    ("insécable\u00a0: étroite\u202f! fine\u2009; nulle\u200b.", "insécable : étroite ! fine ; nulle."),
    ("un\u3000deux\u2003trois\u2028quatre\u2029cinq\u205fsix\u1680sept", "un deux trois quatre cinq six sept"),
    ("un\x1cdeux\x1dtrois\x1equatre\x1fcinq\x85six\x0bsept\x0chuit\rneuf", "un deux trois quatre cinq six sept huit neuf"),
    ("fin\u2060 \ufeffdébut\u180e suite", "fin début suite"),
    ("  au début  et   à la fin \u00a0\t", "au début et à la fin"),
    ("我今天很高兴。你呢？", "我今天很高興。你呢?"),
    ("今日はとても嬉しいです。東京、大阪", "今日はとてもうれしいです。東京、大阪。"),
    ("오늘 정말 기뻐요!", "오늘은 정말 기뻐요."),
    ("Сегодня я очень рад, а ты? №5", "Сегодня я очень рада. А ты? № 5"),
    ("أنا سعيد جدا اليوم، وأنت؟", "أنا سعيدة جدًّا اليوم. وأنت؟"),
    ("אני שמח מאוד היום.", "אני מאוד שמחה היום!"),
    ("मैं आज बहुत खुश हूँ। १२,३४५", "आज मैं बहुत खुश हूं। 12,345"),
    ("วันนี้ฉันมีความสุขมาก", "วันนี้ ฉัน มีความสุข มาก"),
    ("👍🏽 Bravo 👨‍👩‍👧! ☺️ 1️⃣ ½ ² x²", "👍 Bravo 👨‍👩‍👧 ! ☺ 1 1/2 2 x2"),
    ("!(mot)! ((deux)) 'trois' -quatre- a! !a !!", "(mot) (deux) trois quatre a a ! ! !"),
    ("Né en 1999.  ", "Né en 1999."),
    ("a a a a a a a", "a a a"),
    ("a a a", "a a a a a a a"),
    ("le le le le chat chat", "le chat le chat le chat"),
    ("tout autre chose sans rapport", "zzz yyy xxx www vvv"),
    ("U+0000 n'est pas ici \ufffd mais bien là", "U+0000 n'est pas ici \ufffd mais là"),
]


def damaged(words, vocabulary):
    """Imitates a mediocre system: words dropped, doubled, swapped, replaced or misspelt."""
    result = []
    for word in words:
        chance = random.random()
        if chance < 0.06:
            continue
        if chance < 0.09:
            word = word + " " + word
        elif chance < 0.17:
            word = random.choice(vocabulary)
        elif chance < 0.21:
            word = word.lower() if word != word.lower() else word.upper()
        elif chance < 0.25 and len(word) > 2:
            at = random.randrange(len(word) - 1)
            word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        result.append(word)
        if chance > 0.95 and len(result) > 1:
            result[-2:] = result[:-3:-1]
    text = " ".join(result)
    if random.random() < 0.15:
        text = text.replace(" ?", "?").replace(" !", "!").replace(".", " .")
    return text if random.random() > 0.02 else ""


def pairs(path):
    sentences = path.read_text(encoding="utf-8").splitlines()
    random.shuffle(sentences)
    vocabulary = [word for sentence in sentences for word in sentence.split()]
    yield from hard_cases
    for sentence in sentences[: 400 - len(hard_cases)]:
        yield damaged(sentence.split(), vocabulary), sentence


def bleu(hypotheses, references, **options):
    score = BLEU(**options).corpus_score(hypotheses, [references])
    return score.format(width=6).removeprefix("BLEU = ")


def chrf(hypotheses, references, **options):
    score = CHRF(**options).corpus_score(hypotheses, [references])
    return score.format(width=6).split(" = ")[1]


def main():
    hypotheses, references = map(list, zip(*pairs(pathlib.Path(sys.argv[1]))))
    assert not any("\n" in text for text in hypotheses + references)
    for name, lines in (("hypotheses", hypotheses), ("references", references)):
        (fixtures / f"metrics_{name}.txt").write_bytes("".join(line + "\n" for line in lines).encode())

    # The whole corpus, each hard case alone, and the rest in groups of ten.
    parts = [(0, len(hypotheses))] + [(i, i + 1) for i in range(len(hard_cases))]
    parts += [(i, min(i + 10, len(hypotheses))) for i in range(len(hard_cases), len(hypotheses), 10)]
    lines = []
    for metric, name, options in (
        (BLEU, "bleu", {"tokenize": "13a"}),
        (BLEU, "bleu", {"tokenize": "13a", "lowercase": True}),
        (BLEU, "bleu", {"tokenize": "intl"}),
        (BLEU, "bleu", {"tokenize": "char"}),
        (BLEU, "bleu", {"tokenize": "none"}),
        (CHRF, "chrf", {}),
        (CHRF, "chrf", {"lowercase": True}),
        (CHRF, "chrf", {"word_order": 2}),
    ):
        whole = metric(**options)
        whole.corpus_score(hypotheses, [references])
        score = bleu if metric is BLEU else chrf
        lines.append(json.dumps({
            "metric": name, **options,
            "signature": str(whole.get_signature()).split("|version:")[0],
            "scores": [[begin, end, score(hypotheses[begin:end], references[begin:end], **options)]
                       for begin, end in parts],
        }))
    (fixtures / "metrics_scores.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


main()
