#include "runner/report/formats/escaped_text.h"

#include <fmt/format.h>

#include "runner/base/path_text.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

// Calls `append` with each part of `text` that is printable, and with each newline and tab.
template <typename Append>
void ForEachPart(std::string_view text, const Append& append) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    append(Printable(text.substr(0, end)));
    if (end == text.size()) return;
    append(std::string(1, text[end]));
    text.remove_prefix(end + 1);
  }
}

// U+FFFE and U+FFFF are UTF-8, and no characters of XML's.
void ReplaceNoncharacters(std::string& text) {
  for (const std::string_view forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = text.find(forbidden); at != std::string::npos;
         at = text.find(forbidden)) {
      text.replace(at, forbidden.size(), "\xEF\xBF\xBD");
    }
  }
}

template <typename Escape>
std::string Escaped(std::string_view text, const Escape& escape) {
  std::string escaped;
  for (const char c : text) {
    const std::string_view replacement = escape(c);
    if (replacement.empty()) {
      escaped += c;
    } else {
      escaped += replacement;
    }
  }
  return escaped;
}

std::string_view XmlReference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return "";
  }
}

std::string_view AttributeReference(char c) {
  if (c == '\n') return "&#10;";
  if (c == '\t') return "&#9;";
  return XmlReference(c);
}

std::string ForXml(std::string_view text, std::string_view (*escape)(char)) {
  std::string printable = PrintableLines(text);
  ReplaceNoncharacters(printable);
  return Escaped(printable, escape);
}

bool IsUnreservedInPath(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool is_digit = c >= '0' && c <= '9';
  return is_letter || is_digit ||
         std::string_view("-._~/+@,=!$()*").find(c) != std::string_view::npos;
}

}  // namespace

std::string PrintableLines(std::string_view text) {
  std::string printable;
  ForEachPart(text, [&](const std::string& part) { printable += part; });
  return printable;
}

std::string XmlText(std::string_view text) { return ForXml(text, XmlReference); }

std::string XmlAttribute(std::string_view text) { return ForXml(text, AttributeReference); }

std::string MarkdownText(std::string_view text) {
  constexpr std::string_view kMarkup = "&<>|`*_[]~@#\\!$^";
  std::string escaped;
  const std::string printable = Printable(text);
  for (std::size_t i = 0; i < printable.size(); ++i) {
    const char c = printable[i];
    const bool begins_link =
        printable.compare(i, 3, "://") == 0 || printable.compare(i, 4, "www.") == 0;
    const bool is_markup = kMarkup.find(c) != std::string_view::npos || begins_link;
    escaped += is_markup ? fmt::format("&#{};", static_cast<int>(c)) : std::string(1, c);
  }
  return escaped;
}

std::string UriOf(std::string_view path) {
  std::string uri = IsAbsolutePath(path) ? "file://" : "";
  if (IsWindowsPath(path)) {  // file:///C:/src
    uri.append("/").append(path.substr(0, 2));
    path.remove_prefix(2);
  }
  for (const char c : path) {
    uri += IsUnreservedInPath(c) ? std::string(1, c)
                                 : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace leakgate
