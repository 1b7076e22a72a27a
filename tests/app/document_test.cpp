// dragoman translate --document, as a user meets it.
#include <filesystem>

#include "app/translating_commands.h"
#include "document/made_pdf.h"
#include "document/pdf/pages.h"

namespace dragoman::internal {
namespace {

TEST_F(TranslatingCommands, ADocumentIsTranslatedIntoAnotherFile) {
  const std::string page =
      write("page.html", "<p>The <b>cat</b> sleeps.</p>\n<pre><code>The cat</code></pre>\n");
  const std::string out = file("page.out");
  EXPECT_EQ(translate("", "--document " + page + " --out " + out), "");
  const std::string result = read_file(out);
  EXPECT_TRUE(result.ends_with("</p>\n<pre><code>The cat</code></pre>\n")) << result;
  EXPECT_EQ(result.find("sleeps"), std::string::npos) << result;
  EXPECT_NE(result.find("<b>"), std::string::npos) << result;

  const std::string text = write("text", "<p>The cat sleeps.</p>\n");
  translate("", "--document " + text + " --document-format text --out " + out);
  EXPECT_NE(read_file(out), "<p>The cat sleeps.</p>\n");
}

TEST_F(TranslatingCommands, ADocumentMayGoToStandardOutput) {
  const std::string text = write("text.txt", "The cat sleeps.\n"), out = file("text.out");
  translate("", "--document " + text + " --out " + out);
  for (const char* name : {"-", "/dev/stdout"})
    EXPECT_EQ(translate("", "--document " + text + " --out " + name), read_file(out)) << name;
}

TEST_F(TranslatingCommands, ADocumentWithoutTextIsNotLeftAsItIsInSilence) {
  const std::string code = write("code.md", "```\nThe cat sleeps.\n```\n"),
                    text = write("some.md", "The cat.\n");
  EXPECT_EQ(translate("", "--document " + code + " --out -"), read_file(code));
  EXPECT_NE(errors_.find("code.md: no text to translate"), std::string::npos) << errors_;
  translate("", "--document " + text + " --out -");
  EXPECT_EQ(errors_.find("no text to translate"), std::string::npos) << errors_;
}

// Beside them, or in a folder, under names that say the language.
TEST_F(TranslatingCommands, SeveralDocumentsNameTheirTranslations) {
  const std::string html = write("a.html", "<p>The cat sleeps.</p>"),
                    text = write("b.en.txt", "It is cold.\n");
  const std::string both = "--document " + html + " " + text + " --from en --to fr ";
  EXPECT_EQ(translate("", both), file("a.fr.html") + "\n" + file("b.fr.txt") + "\n");
  const std::string wanted = read_file(file("b.fr.txt"));
  EXPECT_EQ(wanted, translate("It is cold.\n"));
  std::filesystem::create_directories(file("folder"));
  translate("", both + "--out " + file("folder"));
  EXPECT_EQ(read_file(file("folder/b.fr.txt")), wanted);
  run("translate -m " + folder_.path + " " + both + "--out " + file("one"), "", 2);
  EXPECT_NE(errors_.find("must be a folder"), std::string::npos) << errors_;
  translate("", "--document " + html);
  EXPECT_TRUE(std::filesystem::exists(file("a.translated.html")));
}

TEST_F(TranslatingCommands, NoDocumentIsOverwrittenByTheTranslationOfAnother) {
  const std::string text = write("c.txt", "It is cold.\n"), other = write("c.fr.txt", "Il fait froid.\n");
  const std::string command = "translate -m " + folder_.path + " --max-length 20 --to fr --document ";
  for (const std::string& documents : {text + " " + other, other + " " + text}) {
    run(command + documents, "", 2);
    EXPECT_NE(errors_.find(other + " is itself a document to translate"), std::string::npos) << errors_;
    EXPECT_EQ(read_file(other), "Il fait froid.\n");
  }
  run(command + text);
  EXPECT_EQ(read_file(other), translate("It is cold.\n", "--to fr")) << "a translation is refreshed";
}

TEST_F(TranslatingCommands, TheTextOfAPdfIsATextFile) {
  const std::string pdf = write("a.en.pdf", pdf_file({{{50, 50, 10, "It is cold."}}}));
  const std::string languages = " --from en --to fr";
  if (!reads_pdf) {
    run("translate -m " + folder_.path + " --document " + pdf + languages, "", 1);
    EXPECT_NE(errors_.find("built without poppler"), std::string::npos) << errors_;
    return;
  }
  EXPECT_EQ(translate("", "--document " + pdf + languages), file("a.fr.txt") + "\n");
  EXPECT_EQ(read_file(file("a.fr.txt")), translate("It is cold.\n") + "\n");
}

TEST_F(TranslatingCommands, ADocumentThatCannotBeTranslatedIsASentenceAndWritesNothing) {
  const std::string page = write("page.txt", "The cat sleeps.\n"), out = file("nothing");
  const auto refused = [&](const std::string& options, int exit_code) {
    run("translate --model " + folder_.path + " " + options, "", exit_code);
    EXPECT_FALSE(std::filesystem::exists(out)) << options;
    return errors_;
  };
  EXPECT_NE(refused("--out " + out, 2).find("--document FILE"), std::string::npos) << errors_;
  EXPECT_NE(refused("--document " + page + " --out " + page, 2).find("is itself a document to translate"),
            std::string::npos);
  EXPECT_NE(refused("--document " + page + " --out " + out + " --nbest 2", 2).find("--nbest"),
            std::string::npos);
  EXPECT_NE(refused("--document " + page + " --out " + out + " --text ''", 2).find("--text has no effect"),
            std::string::npos);
  EXPECT_NE(refused("--document " + file("none.txt") + " --out " + out, 1).find("none.txt"),
            std::string::npos);
  EXPECT_NE(refused("--document " + folder_.path + "/config.xyz --out " + out, 1).find("config.xyz"),
            std::string::npos);
  const std::string damaged = write("damaged.txt", "good\nb\xff d\n");
  EXPECT_NE(refused("--document " + damaged + " --out " + out, 1).find("line 2 is not valid UTF-8"),
            std::string::npos);
  EXPECT_EQ(read_file(page), "The cat sleeps.\n");
}

}  // namespace
}  // namespace dragoman::internal
