// Makes text safe for formats in which some characters have a meaning of their own. Pure.
//
// Each function takes any bytes: control characters and what is not UTF-8 come out as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// Does as Printable, but keeps the newlines and tabs of text that has lines.
[[nodiscard]] std::string PrintableLines(std::string_view text);

// Escapes the text of an XML or HTML element. What XML forbids even as a reference is replaced.
[[nodiscard]] std::string XmlText(std::string_view text);

// Does the same for an attribute, where newlines and tabs must be references to be kept.
[[nodiscard]] std::string XmlAttribute(std::string_view text);

// Escapes text for a line or a table's cell of GitHub's Markdown: nothing in it is markup, a
// mention, or a link.
[[nodiscard]] std::string MarkdownText(std::string_view text);

// Turns a path into a URI reference: "src/a b.cc" -> "src/a%20b.cc"; "/src/a.cc" ->
// "file:///src/a.cc".
[[nodiscard]] std::string UriOf(std::string_view path);

}  // namespace leakgate
