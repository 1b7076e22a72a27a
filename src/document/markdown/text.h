// Markdown's text: characters that would become markup, and the parts of links that are not text.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

bool is_markdown_punctuation(char c);  // what a backslash may precede

std::string escape_markdown(std::string_view text);
std::string escape_markdown_cell(std::string_view text);          // in a table
std::string escape_markdown_first_cell(std::string_view text);    // at the beginning of a line
std::string escape_markdown_over_hyphens(std::string_view text);  // where a bar would make a table
// In a paragraph whose first lines define links: a quotation could be the title of the last one.
std::string escape_markdown_after_definitions(std::string_view text);
std::string escape_all_markdown(std::string_view text);  // a backslash before all punctuation

// The size of the "[^label]:" that the text begins with, as footnotes do in most dialects; 0 if it does not.
size_t footnote_at(std::string_view text);

// After a line's end: the marks of this many block quotes, as far as the line has them, and white space.
size_t after_prefix(std::string_view source, size_t at, size_t quotes);
// After white space, with one line's end at most.
size_t after_space(std::string_view source, size_t at, size_t quotes);
size_t after_line_end(std::string_view source, size_t at);

// The size of the hard line break that the bytes begin with, with block quotes' marks on the next line; 0 if none.
size_t line_break_at(std::string_view bytes);

// Behind the lines of the link definition that a line begins with, [label]: destination "title"; `at` if it is none.
size_t after_definition(std::string_view source, size_t at, size_t quotes);

// The end of what follows a link's ]: (destination "title"), [label], [] or nothing.
size_t after_link_tail(std::string_view source, size_t at, size_t quotes);

}  // namespace dragoman::internal
