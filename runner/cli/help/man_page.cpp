#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runner/cli/help/help_formats.h"
#include "runner/cli/installation.h"

namespace leakgate {
namespace {

enum class Font { kRoman, kBold, kItalic };

// Escapes what roff would change. "-" and "'" would otherwise become a hyphen and a quotation mark,
// which no shell takes.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string In(Font font, std::string_view text) {
  if (text.empty()) return "";
  if (font == Font::kRoman) return Escaped(text);
  return fmt::format("\\f{}{}\\fR", font == Font::kBold ? 'B' : 'I', Escaped(text));
}

// Escapes a line that begins with '.': roff would take it for a request.
std::string Line(std::string text) {
  if (text.starts_with('.')) text.insert(0, "\\&");
  return text + '\n';
}

// Breaks text into lines, none of them long, for roff to fill.
std::string Filled(const std::string& escaped) {
  constexpr std::size_t kColumns = 78;
  std::string lines;
  std::string line;
  for (std::size_t at = 0; at < escaped.size();) {
    const std::size_t end = std::min(escaped.find(' ', at), escaped.size());
    if (!line.empty() && line.size() + 1 + (end - at) > kColumns) {
      lines += Line(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + escaped.substr(at, end - at);
    at = end + 1;
  }
  return lines + Line(line);
}

std::string Section(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string Sentence(std::string text) {
  return text.empty() || text.ends_with('.') || text.ends_with(':') ? text : text + '.';
}

std::string Lowered(std::string text) {
  const bool is_word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (is_word) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string Raised(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

// Text that users type is bold; words that stand for something else are in italics.
std::string Usage(const std::string& usage) {
  std::string text;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < usage.size();) {
    const bool is_in_word = is_letter(usage[at]) || usage[at] == '-';
    std::size_t end = at + 1;
    while (end < usage.size() && (is_letter(usage[end]) || usage[end] == '-') == is_in_word) ++end;
    const std::string word = usage.substr(at, end - at);
    const bool stands_for = std::all_of(word.begin(), word.end(), [](char c) {
      return std::isupper(static_cast<unsigned char>(c)) != 0;
    });
    text += In(!is_in_word ? Font::kRoman : stands_for ? Font::kItalic : Font::kBold, word);
    at = end;
  }
  return text;
}

std::string Synopsis(const std::vector<std::string>& usages) {
  std::string text;
  for (const std::string& usage : usages) {
    text += (text.empty() ? "" : ".br\n") + Line(Usage(usage));
  }
  return text;
}

std::string ManParagraphs(const std::vector<std::string>& paragraphs) {
  std::string text;
  for (const std::string& paragraph : paragraphs) text += ".PP\n" + Filled(Escaped(paragraph));
  return text;
}

std::string Terms(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& it : terms) {
    text +=
        ".TP\n" + Line(In(Font::kBold, it.term)) + Filled(Escaped(Sentence(Raised(it.meaning))));
  }
  return text;
}

std::string Description(const CommandProse& prose) {
  std::string text = Filled(Escaped(Sentence(Raised(prose.summary)))) +
                     ManParagraphs(prose.description) + ManParagraphs(prose.notes);
  if (!prose.terms.empty()) {
    text += ".PP\n" + Line(Escaped(prose.terms_lead + ':')) + Terms(prose.terms);
  }
  return text;
}

std::string OptionName(const Option& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += (text.empty() ? "" : ", ") + In(Font::kBold, name);
  }
  if (IsFlag(option)) return text;
  const std::string& value = option.value.word;
  const std::string whole = OptionText(option);
  return text + whole[whole.size() - value.size() - 1] + In(Font::kItalic, value);
}

std::string ManOptions(const CommandPage& page) {
  std::string text = Section("OPTIONS");
  for (const Option& option : page.options) {
    text += ".TP\n" + Line(OptionName(option)) + Filled(Escaped(Sentence(option.description)));
  }
  return text;
}

std::string ExitStatus(const CommandProse& prose) {
  if (prose.exit_lead.empty() && prose.exit_codes.empty()) return "";
  const bool goes_on = !prose.exit_codes.empty();
  const std::string lead =
      prose.exit_lead.empty() ? "" : Raised(prose.exit_lead) + (goes_on ? ":" : ".");
  return Section("EXIT STATUS") + (lead.empty() ? "" : Filled(Escaped(lead))) +
         Terms(prose.exit_codes);
}

std::string ManCommands(const CommandPage& page, const std::vector<CommandPage>& pages) {
  if (page.commands.empty()) return "";
  std::string text = Section("COMMANDS");
  for (const std::string& name : page.commands) {
    const CommandPage& command = PageOf(pages, name);
    text += ".TP\n" + Line(In(Font::kBold, ManPageName(command)) + "(1)") +
            Filled(Escaped(Sentence(command.prose.summary)));
  }
  return text;
}

std::string ManExamples(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string text = Section("EXAMPLES");
  bool is_first = true;
  for (const Example& example : examples) {
    if (!is_first) text += ".PP\n";
    if (!example.says.empty()) text += Line(Escaped(example.says + ':')) + ".PP\n";
    is_first = false;
    text += ".in +4n\n.EX\n" + Line(Escaped(example.command)) + ".EE\n.in\n";
  }
  return text;
}

// Refers to the page above this one, and to the others below that.
std::string SeeAlso(const CommandPage& page, const std::vector<CommandPage>& pages) {
  const std::string& name = page.prose.name;
  const std::size_t space = name.rfind(' ');
  const std::string parent = space == std::string::npos ? "" : name.substr(0, space);
  std::vector<std::string> others;
  if (!name.empty()) others.push_back(ManPageName(PageOf(pages, parent)));
  const std::string& among = page.commands.empty() ? parent : name;
  for (const std::string& other : PageOf(pages, among).commands) {
    if (other != name) others.push_back(ManPageName(PageOf(pages, other)));
  }
  std::sort(others.begin(), others.end());
  std::string text = Section("SEE ALSO");
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", Escaped(others[i]), i + 1 == others.size() ? "" : ",");
  }
  return text;
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string ManPageName(const CommandPage& page) {
  std::string name = FullName(page);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string ManPage(const CommandPage& page, const std::vector<CommandPage>& pages) {
  const CommandProse& prose = page.prose;
  const std::string name = ManPageName(page);
  std::string text = fmt::format(".TH {} 1 \"{}\" \"leakgate {}\" \"User Commands\"\n",
                                 Escaped(Upper(name)), BuildDate(), VersionNumber());
  text += Section("NAME") +
          Filled(fmt::format("{} \\- {}", Escaped(name), Escaped(Lowered(prose.summary))));
  text += Section("SYNOPSIS") + Synopsis(prose.usages);
  text += Section("DESCRIPTION") + Description(prose);
  text += ManCommands(page, pages) + ManOptions(page) + ExitStatus(prose);
  if (!prose.environment.empty()) text += Section("ENVIRONMENT") + Terms(prose.environment);
  if (!prose.files.empty()) text += Section("FILES") + Terms(prose.files);
  return text + ManExamples(prose.examples) + SeeAlso(page, pages);
}

}  // namespace leakgate
