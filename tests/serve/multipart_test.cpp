#include "serve/requests/multipart.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "serve/requests/body.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

const std::string form_type = "multipart/form-data; boundary=xYz";

// One part with these headers and this content.
std::string body_of(const std::string& headers, const std::string& content) {
  return "--xYz\r\n" + headers + "\r\n\r\n" + content + "\r\n--xYz--\r\n";
}

std::vector<FormPart> parsed(const std::string& disposition, const std::string& content = "c") {
  static std::string body;
  body = body_of("Content-Disposition: form-data; " + disposition, content);
  return parse_multipart(form_type, body);
}

int refused(const std::string& content_type, const std::string& body, std::string* message = nullptr) {
  try {
    parse_multipart(content_type, body);
  } catch (const ServeError& error) {
    if (message != nullptr) *message = error.what();
    return error.status();
  }
  return 200;
}

TEST(MultipartTest, ReadsWhatWasWritten) {
  for (uint64_t key = 0; key < 200; ++key) {
    Random random(key);
    const auto bytes = [&](size_t most) {
      std::string text;
      for (size_t i = 0, n = random.below(most); i < n; ++i) text += "\r\n-xYz\"\\\0%\xff"[random.below(12)];
      return text;
    };
    const std::string boundary = "----b" + std::to_string(random.below(1000));
    std::vector<std::string> contents;
    std::string body;
    for (size_t i = 0, n = random.below(6); i < n; ++i) {
      contents.push_back(bytes(60));
      body += fmt::format(
                  "--{}\r\ncontent-disposition:form-data;name=\"f{}\"{}\r\nContent-Type: text/plain\r\n\r\n",
                  boundary, i, i % 2 == 0 ? "" : "; filename=\"a b.txt\"") +
              contents.back() + "\r\n";
    }
    body += "--" + boundary + "--";
    const std::vector<FormPart> parts =
        parse_multipart("Multipart/Form-Data; charset=x; boundary=\"" + boundary + "\"", body);
    ASSERT_EQ(parts.size(), contents.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].name, "f" + std::to_string(i));
      EXPECT_EQ(parts[i].is_file, i % 2 == 1);
      EXPECT_EQ(parts[i].file_name, i % 2 == 0 ? "" : "a b.txt");
      EXPECT_EQ(parts[i].content, contents[i]);
    }
  }
}

TEST(MultipartTest, NamesOfFilesAreTheirLastComponents) {
  const auto name = [](const std::string& parameters) {
    return parsed("name=file; " + parameters)[0].file_name;
  };
  EXPECT_EQ(name("filename=a.txt"), "a.txt");
  EXPECT_EQ(name("filename=\"../../etc/passwd\""), "passwd");
  EXPECT_EQ(name("filename=\"C:\\Users\\me\\a.docx\""), "a.docx");
  EXPECT_EQ(name("filename=\"a\\\"b.txt\""), "a\"b.txt");
  EXPECT_EQ(name("filename=\"a%22b%20c.txt\""), "a\"b%20c.txt");  // as browsers write
  EXPECT_EQ(name("filename=\"x\"; filename*=utf-8''na%C3%AFve+%2e%2E%2fb.txt"), "b.txt");
  EXPECT_EQ(name("filename*=UTF-8'fr'na%C3%AFve+1.txt"), "naïve+1.txt");
  EXPECT_EQ(name("filename=\"\""), "");
  EXPECT_TRUE(parsed("name=file; filename=\"\"")[0].is_file);
}

TEST(MultipartTest, RefusesWhatCouldBeReadInTwoWays) {
  const std::string head = "Content-Disposition: form-data; name=\"q\"";
  EXPECT_EQ(refused(form_type, body_of(head, "")), 200);
  EXPECT_EQ(refused(form_type, "--xYz--"), 200);
  EXPECT_EQ(refused("text/plain", body_of(head, "")), 415);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"multipart/form-data", body_of(head, "")},
      {"multipart/form-data; boundary=", body_of(head, "")},
      {"multipart/form-data; boundary=xYz; boundary=b", body_of(head, "")},
      {"multipart/form-data; boundary=\"xYz", body_of(head, "")},
      {"multipart/form-data; boundary=" + std::string(71, 'x'), body_of(head, "")},
      {form_type, ""},
      {form_type, "x" + body_of(head, "")},
      {form_type, body_of(head, "") + "x"},
      {form_type, "--xYz\r\n" + head + "\r\n\r\nabc"},
      {form_type, "--xYz\n" + head + "\n\nabc\n--xYz--\n"},
      {form_type, body_of(head, "a\r\n--xYzb")},
      {form_type, body_of(head + "\r\n" + head, "")},
      {form_type, body_of(head + "\nX: y", "")},
      {form_type, body_of(head + "; name=\"r\"", "")},
      {form_type, body_of(head + "; filename=\"r", "")},
      {form_type, body_of("Content-Disposition: attachment; name=\"q\"", "")},
      {form_type, body_of("Content-Disposition: form-data", "")},
      {form_type, body_of("X: y", "")},
      {form_type, body_of(head + "\r\nContent-Transfer-Encoding: base64", "")},
      {form_type, body_of("Content-Disposition: form-data; name=\"q\x01\"", "")},
      {form_type, body_of("Content-Disposition: form-data; name=\"q\xff\"", "")},
      {form_type, body_of(head + "; filename*=latin1''x", "")},
      {form_type, body_of(head + "\r\nX: " + std::string(5000, 'y'), "")},
      {form_type, body_of("Content-Disposition: form-data; name=" + std::string(256, 'n'), "")},
  };
  for (const auto& [content_type, body] : bad) {
    std::string message;
    EXPECT_EQ(refused(content_type, body, &message), 400) << content_type << "\n" << body;
    EXPECT_TRUE(message.starts_with("the body is not valid multipart/form-data: ")) << message;
  }
  std::string many;
  for (size_t i = 0; i <= max_form_parts; ++i) many += "--xYz\r\n" + head + "\r\n\r\n\r\n";
  EXPECT_EQ(refused(form_type, many + "--xYz--"), 400);
}

TEST(FormTest, FieldsAreDecodedAndRepeatedOnesAreLists) {
  EXPECT_EQ(
      parse_urlencoded("q=a+b%20c%2B&q=&s=%C3%A9&empty&&x=1=2&p=100%+%zz%4"),
      nlohmann::json({{"q", {"a b c+", ""}}, {"s", "é"}, {"empty", ""}, {"x", "1=2"}, {"p", "100% %zz%4"}}));
  EXPECT_EQ(parse_urlencoded(""), nlohmann::json::object());
  EXPECT_EQ(parse_urlencoded("q=1&q=2&q=3").at("q").size(), 3u);
  EXPECT_THROW(parse_urlencoded("q=%ff"), ServeError);
  std::string many;
  for (size_t i = 0; i <= max_form_fields; ++i) many += "q=&";
  EXPECT_THROW(parse_urlencoded(many), ServeError);
}

TEST(FormTest, FieldsOfMultipartAreThoseOfAForm) {
  const std::string body =
      "--xYz\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\na\r\n--xYz\r\n"
      "Content-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\nb\r\n--xYz--\r\n";
  EXPECT_EQ(multipart_fields(form_type, body), nlohmann::json({{"q", "a"}}));
}

}  // namespace
}  // namespace dragoman::internal
