#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "runner/cli/help/help_formats.h"

namespace leakgate {
namespace {

constexpr std::size_t kHelpColumns = 80;
constexpr std::size_t kMostIndent = 25;

// Breaks `text` into lines of at most kHelpColumns that begin at `indent`. The first line has
// already reached `column`.
std::string Wrapped(const std::string& text, std::size_t indent, std::size_t column) {
  std::string lines(indent > column ? indent - column : 0, ' ');
  column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (column > indent && column + 1 + length > kHelpColumns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(at, length);
    column += length;
    at = end + 1;
  }
  return lines + '\n';
}

std::string Paragraphs(const std::vector<std::string>& paragraphs) {
  std::string text;
  for (const std::string& paragraph : paragraphs) text += Wrapped(paragraph, 0, 0) + '\n';
  return text;
}

// Shows terms in one column and their meanings in another.
std::string Table(const std::vector<Term>& terms, std::size_t gap) {
  constexpr std::size_t kBegin = 2;
  std::size_t indent = 0;
  for (const Term& it : terms) {
    const std::size_t wanted = kBegin + it.term.size() + gap;
    if (wanted <= kMostIndent + 1) indent = std::max(indent, std::min(wanted, kMostIndent));
  }
  if (indent == 0) indent = kMostIndent;
  std::string text;
  for (const Term& it : terms) {
    text += std::string(kBegin, ' ') + it.term;
    std::size_t column = kBegin + it.term.size();
    if (column + 2 > indent) {
      text += '\n';
      column = 0;
    }
    text += Wrapped(it.meaning, indent, column);
  }
  return text;
}

std::string Commands(const CommandPage& page, const std::vector<CommandPage>& pages) {
  if (page.commands.empty()) return "";
  std::vector<Term> terms;
  for (const std::string& name : page.commands) {
    terms.push_back({LastWord(name), PageOf(pages, name).prose.summary});
  }
  return "Commands:\n" + Table(terms, 3) + "\nEach has a --help of its own.\n\n";
}

std::string Options(const CommandPage& page) {
  std::vector<Term> terms;
  for (const Option& option : page.options) {
    terms.push_back({OptionText(option), option.description});
  }
  return "Options:\n" + Table(terms, 3);
}

std::string ExitCodes(const CommandProse& prose) {
  if (prose.exit_lead.empty() && prose.exit_codes.empty()) return "";
  const std::string lead = prose.exit_lead.empty() ? "" : " " + prose.exit_lead;
  return '\n' + Wrapped("Exit code:" + lead, 0, 0) + Table(prose.exit_codes, 3);
}

std::string Examples(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string text = examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const Example& example : examples) {
    if (!example.says.empty()) text += Wrapped(example.says + ":", 2, 0);
    text += fmt::format("{}{}\n", example.says.empty() ? "  " : "    ", example.command);
  }
  return text;
}

}  // namespace

std::string FullName(const CommandPage& page) {
  return page.prose.name.empty() ? "leakgate" : "leakgate " + page.prose.name;
}

bool TakesProgram(const CommandPage& page) {
  const auto& usages = page.prose.usages;
  return page.commands.empty() &&
         std::any_of(usages.begin(), usages.end(), [](const std::string& usage) {
           return usage.find("-- BINARY") != std::string::npos ||
                  usage.find("-- COMMAND") != std::string::npos;
         });
}

std::string LastWord(const std::string& name) {
  const std::size_t space = name.rfind(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

std::vector<std::string> CommandsBelow(const std::string& name) {
  const std::string before = name.empty() ? "" : name + ' ';
  std::vector<std::string> commands;
  for (const CommandProse& prose : AllProse()) {
    const std::string& other = prose.name;
    if (other.empty() || !other.starts_with(before)) continue;
    if (other.find(' ', before.size()) == std::string::npos) commands.push_back(other);
  }
  return commands;
}

const CommandPage& PageOf(const std::vector<CommandPage>& pages, const std::string& name) {
  const auto found = std::find_if(pages.begin(), pages.end(),
                                  [&](const CommandPage& page) { return page.prose.name == name; });
  if (found == pages.end()) throw std::logic_error("no page for the command " + name);
  return *found;
}

const std::vector<Term>& DocumentPages() {
  const std::vector<CommandProse>& all = AllProse();
  return std::find_if(all.begin(), all.end(), [](const auto& one) { return one.name == "help"; })
      ->terms;
}

std::string DocumentPagesText() {
  return "Pages of the documents, each shown by leakgate help PAGE:\n" + Table(DocumentPages(), 3);
}

std::string OptionText(const Option& option) {
  std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  if (IsFlag(option)) return text;
  const bool is_choice = option.value.kind == ValueKind::kChoice;
  return text + (is_choice ? "=" : " ") + option.value.word;
}

std::string HelpText(const CommandPage& page, const std::vector<CommandPage>& pages) {
  const CommandProse& prose = page.prose;
  const std::string lead = prose.name.empty() ? "leakgate: " : "";
  std::string text = Wrapped(lead + prose.summary + (prose.name.empty() ? "" : "."), 0, 0) + '\n';
  text += Paragraphs(prose.description) + "Usage:\n";
  for (const std::string& usage : prose.usages) text += fmt::format("  {}\n", usage);
  text += '\n' + Paragraphs(prose.notes);
  if (!prose.terms.empty()) text += prose.terms_lead + ":\n" + Table(prose.terms, 3) + '\n';
  return text + Commands(page, pages) + Options(page) + ExitCodes(prose) + Examples(prose.examples);
}

}  // namespace leakgate
