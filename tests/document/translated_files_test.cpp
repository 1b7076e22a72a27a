// Files with translations, read as pairs of texts.
#include <zlib.h>

#include <fstream>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/signals.h"
#include "document/bilingual.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

class TranslatedFilesTest : public testing::Test {
 protected:
  // "source=target" for each.
  std::vector<std::string> read(const std::string& name, const std::string& bytes,
                                const std::string& from = "en", const std::string& to = "fr") {
    const std::string path = folder_.write(name, bytes);
    std::vector<std::string> texts;
    changed_.clear();
    read_bilingual(path, {.name = path, .from = from, .to = to}, [&](const BilingualText& text) {
      texts.push_back(text.source + "=" + text.target);
      changed_.push_back(text.changed);
    });
    return texts;
  }

  std::string error(const std::string& name, const std::string& bytes, const std::string& from = "en",
                    const std::string& to = "fr") {
    try {
      read(name, bytes, from, to);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  using Texts = std::vector<std::string>;
  TemporaryFolder folder_;
  std::vector<int64_t> changed_;
};

const std::string tmx = R"(<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu creationdate="19700101T000010Z" changedate="19700102T000000Z">
 <tuv xml:lang="en-GB">
  <seg>A &amp; <bpt i="1">&lt;b></bpt>bold<ept i="1">&lt;/b></ept> <hi>word</hi><ph>{0}<sub>x</sub></ph></seg>
 </tuv>
 <tuv xml:lang="de"><seg>Wort</seg></tuv>
 <tuv xml:lang="fr-CA"><seg>canadien</seg></tuv>
 <tuv xml:lang="fr"><note>a note</note><seg> Un <![CDATA[<mot>]]> </seg></tuv>
</tu>
<tu><tuv xml:lang="en"><seg>only English</seg></tuv></tu>
<tu><tuv lang="EN"><seg>old</seg></tuv><tuv lang="FR"><seg>vieux</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>empty</seg></tuv><tuv xml:lang="fr"><seg> </seg></tuv></tu>
</body></tmx>)";

TEST_F(TranslatedFilesTest, Tmx) {
  EXPECT_EQ(read("a.tmx", tmx), (Texts{"A & bold word=Un <mot>", "old=vieux"}));
  EXPECT_EQ(changed_, (std::vector<int64_t>{86400, 0}));
  EXPECT_EQ(read("a.tmx", tmx, "", "fr-CA")[0], "A & bold word=canadien");
  EXPECT_EQ(read("a.tmx", tmx, "fr", "de"), (Texts{"Un <mot>=Wort"}));
  EXPECT_NE(error("a.tmx", tmx, "en", "").find("give the language (to)"), std::string::npos);
}

TEST_F(TranslatedFilesTest, TmxWithSeveralCodesOfALanguage) {
  const auto unit = [](const std::string& variants) {
    return "<tmx><header srclang='en'/><body><tu><tuv xml:lang='en'><seg>a</seg></tuv>" + variants +
           "</tu></body></tmx>";
  };
  const std::string latin = "<tuv xml:lang='sh'><seg>sh</seg></tuv>",
                    serbia = "<tuv xml:lang='sr-RS'><seg>RS</seg></tuv>",
                    bosnia = "<tuv xml:lang='sr-BA'><seg>BA</seg></tuv>";
  EXPECT_EQ(read("a.tmx", unit(latin), "en", "sr"), Texts{"a=sh"});
  EXPECT_EQ(read("a.tmx", unit(latin + serbia + bosnia), "en", "sr"), Texts{"a=RS"});
  EXPECT_EQ(read("a.tmx", unit(latin + serbia + bosnia), "en", "sr-BA"), Texts{"a=BA"});
}

TEST_F(TranslatedFilesTest, InAnyEncodingAndCompressed) {
  const std::string latin =
      "<?xml version='1.0' encoding='ISO-8859-1'?><tmx><header srclang='en'/><body><tu>"
      "<tuv xml:lang='en'><seg>coffee</seg></tuv><tuv xml:lang='fr'><seg>caf\xE9</seg></tuv>"
      "</tu></body></tmx>";
  EXPECT_EQ(read("a.tmx", latin), (Texts{"coffee=café"}));
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("<tmx><header srclang='en'/><body><tu><tuv xml:lang='en'><seg>a</seg></tuv>"
                                  "<tuv xml:lang='fr'><seg>b</seg></tuv></tu></body></tmx>"))
    wide += {c, '\0'};
  EXPECT_EQ(read("a.tmx", wide), (Texts{"a=b"}));
  const std::string path = folder_.path("b.tmx.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, latin.data(), static_cast<unsigned>(latin.size()));
  gzclose(file);
  std::string target;
  read_bilingual(path, {.name = path, .to = "fr"}, [&](const BilingualText& text) { target = text.target; });
  EXPECT_EQ(target, "café");
}

TEST_F(TranslatedFilesTest, Xliff) {
  const std::string first = R"(<xliff version="1.2"><file source-language="en" target-language="fr-FR"><body>
<trans-unit id="1"><source>Save <g id="1">as</g><x id="2"/></source><seg-source>no</seg-source>
 <target state="translated">Enregistrer <g id="1">sous</g><ph id="2">{0}</ph></target>
 <alt-trans><source>Other</source><target>Autre</target></alt-trans></trans-unit>
<trans-unit id="2"><source>New</source><target state="needs-translation">New</target></trans-unit>
<trans-unit id="3"><source>Untranslated</source></trans-unit>
</body></file></xliff>)";
  EXPECT_EQ(read("a.xlf", first), (Texts{"Save as=Enregistrer sous"}));
  const std::string second =
      R"(<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="fr">
<file id="f"><unit id="1"><segment state="final"><source>One <pc id="1">two</pc></source>
<target>Un <pc id="1">deux</pc></target></segment>
<segment state="initial"><source>Three</source><target>Three</target></segment></unit></file></xliff>)";
  EXPECT_EQ(read("a.xliff", second), (Texts{"One two=Un deux"}));
  EXPECT_NE(error("a.xliff", second, "en", "de").find("the target language of the file is fr, not de"),
            std::string::npos);
}

TEST_F(TranslatedFilesTest, Po) {
  const std::string catalogue = R"(msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n > 1);\n"

msgid "Open \"%s\"\n"
msgstr "Ouvrir « %s »\n"

#, fuzzy
msgid "Wrong"
msgstr "Faux"

msgid "Untranslated"
msgstr ""

msgctxt "count"
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d fichier"
msgstr[1] "%d fichiers"

#~ msgid "Obsolete"
#~ msgstr "Obsolète"
)";
  EXPECT_EQ(read("fr.po", catalogue),
            (Texts{"Open \"%s\"=Ouvrir « %s »", "%d file=%d fichier", "%d files=%d fichiers"}));
  EXPECT_EQ(read("fr.po",
                 "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1\\n\"\n\n"
                 "msgid \"coffee\"\nmsgstr \"caf\xE9\"\n"),
            (Texts{"coffee=café"}));
}

// The form for 1 is that for 21, or the only one: then it has a number, which "One file" has not.
TEST_F(TranslatedFilesTest, PoWhoseFormForOneIsForOthersToo) {
  const auto catalogue = [](const std::string& forms, const std::string& translations) {
    return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: " + forms +
           ";\\n\"\n\nmsgid \"One file\"\nmsgid_plural \"%d files\"\n" + translations;
  };
  EXPECT_EQ(
      read("ru.po", catalogue("nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2)",
                              "msgstr[0] \"%d файл\"\nmsgstr[1] \"%d файла\"\nmsgstr[2] \"%d файлов\"\n")),
      (Texts{"%d files=%d файлов"}));
  EXPECT_EQ(read("ja.po", catalogue("nplurals=1; plural=0", "msgstr[0] \"%d 個のファイル\"\n")),
            (Texts{"%d files=%d 個のファイル"}));
}

TEST_F(TranslatedFilesTest, PoWhosePluralsHaveTheirPlaceholdersElsewhere) {
  EXPECT_EQ(read("fr.po",
                 "msgid \"%d match in %s\"\nmsgid_plural \"%d matches in %s\"\n"
                 "msgstr[0] \"%2$s : un résultat\"\nmsgstr[1] \"%2$s : %1$d résultats\"\n"),
            (Texts{"%d match in %s=%2$s : un résultat", "%d matches in %s=%2$s : %1$d résultats"}));
}

TEST_F(TranslatedFilesTest, PoHasOneHeader) {
  EXPECT_EQ(read("fr.po",
                 "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n\n"
                 "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural=(n == 1);\\n\"\n\n"
                 "msgid \"%d file\"\nmsgid_plural \"%d files\"\n"
                 "msgstr[0] \"%d fichier\"\nmsgstr[1] \"%d fichiers\"\n"),
            (Texts{"%d file=%d fichier", "%d files=%d fichiers"}));
}

TEST_F(TranslatedFilesTest, ErrorsSayWhere) {
  const std::string cut = tmx.substr(0, tmx.find("<tu><tuv lang"));
  const std::string what = error("a.tmx", cut);
  EXPECT_NE(what.find(folder_.path("a.tmx") + ": line "), std::string::npos) << what;
  EXPECT_NE(error("a.tmx", "").find(folder_.path("a.tmx")), std::string::npos);
  EXPECT_NE(error("a.po", "msgid oops\n").find("line 1"), std::string::npos);
  EXPECT_NE(error("a.txt", "").find("must end in"), std::string::npos);
}

TEST_F(TranslatedFilesTest, ARequestToStopIsNoErrorOfTheFile) {
  const std::string path = folder_.write("a.po", "msgid \"One\"\nmsgstr \"Un\"\n");
  const auto stop = [](const BilingualText&) { throw Stopped(2, "stopped"); };
  EXPECT_THROW(read_bilingual(path, {.name = path}, stop), Stopped);
}

// What entities stand for may be another file, or grow without bound.
TEST_F(TranslatedFilesTest, EntitiesAreNotReplaced) {
  const std::string xml =
      "<!DOCTYPE tmx [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'><!ENTITY f SYSTEM '/etc/passwd'>]>"
      "<tmx><header srclang='en'/><body><tu><tuv xml:lang='en'><seg>x&b;y&f;z</seg></tuv>"
      "<tuv xml:lang='fr'><seg>q</seg></tuv></tu></body></tmx>";
  for (const std::string& text : read("a.tmx", xml)) EXPECT_EQ(text.find("aaa"), std::string::npos) << text;
}

}  // namespace
}  // namespace dragoman::internal
