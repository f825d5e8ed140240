// Text made safe for the formats that have their own ideas of what is special. Pure.
//
// Each takes any bytes: control characters and what is not UTF-8 come out as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// Printable, but for the newlines and tabs of text that has lines.
[[nodiscard]] std::string PrintableLines(std::string_view text);

// For XML's text and attributes; the latter must keep their newlines, so they are
// written as references. What XML forbids even as a reference is gone.
[[nodiscard]] std::string XmlText(std::string_view text);
[[nodiscard]] std::string XmlAttribute(std::string_view text);

// For GitHub's Markdown, in a line or a table's cell: nothing in it is markup, a
// mention, or a link.
[[nodiscard]] std::string MarkdownText(std::string_view text);

// For the inside of <pre>.
[[nodiscard]] std::string HtmlText(std::string_view text);

// A path as a URI reference: "src/a b.cc" -> "src/a%20b.cc"; "/src/a.cc" -> "file:///src/a.cc".
[[nodiscard]] std::string UriOf(std::string_view path);

}  // namespace leakgate
