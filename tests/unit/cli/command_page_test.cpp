// What help, manual pages and completion are written from.
#include <gmock/gmock.h>

#include <filesystem>

#include "runner/cli/app/command_line.h"
#include "runner/cli/help/help_formats.h"
#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words;
  std::istringstream stream(name);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The escapes of a page undone, as a reader sees it.
std::string Read(std::string roff) {
  for (const auto& [escape, text] : std::initializer_list<std::pair<std::string, std::string>>{
           {"\\-", "-"}, {"\\(aq", "'"}, {"\\fB", ""}, {"\\fI", ""}, {"\\fR", ""}, {"\\&", ""}}) {
    for (std::size_t at = 0; (at = roff.find(escape)) != std::string::npos;) {
      roff.replace(at, escape.size(), text);
    }
  }
  return roff;
}

TEST(CommandPageTest, EachCommandThatIsParsedHasItsPage) {
  std::vector<std::string> names;
  for (const CommandPage& page : AllPages()) names.push_back(page.prose.name);
  for (const char* name : {"",
                           "run",
                           "doctor",
                           "explain",
                           "budget",
                           "budget schema",
                           "budget check",
                           "budget init",
                           "budget ratchet",
                           "merge",
                           "history",
                           "history add",
                           "history show",
                           "history trend",
                           "session",
                           "session start",
                           "session list",
                           "session stop",
                           "framework",
                           "help",
                           "completion",
                           "man"}) {
    EXPECT_THAT(names, Contains(name));
  }
}

TEST(CommandPageTest, EachOptionSaysWhatItIsFor) {
  for (const CommandPage& page : AllPages()) {
    for (const Option& option : page.options) {
      EXPECT_NE(option.description, "") << FullName(page) << ' ' << OptionText(option);
    }
  }
}

// CLI11's own words for types are no placeholders of ours.
TEST(CommandPageTest, EachValueHasAWordOfOurs) {
  for (const CommandPage& page : AllPages()) {
    for (const Option& option : page.options) EXPECT_NE(option.value.word, "TEXT");
    for (const Option& it : page.arguments) EXPECT_THAT(it.value.word, Not(HasSubstr("TEXT")));
  }
}

TEST(CommandPageTest, HelpNamesEachPageOfTheDocuments) {
  std::vector<std::string> named;
  for (const Term& page : DocumentPages())
    named.push_back(page.term.substr(0, page.term.find('.')));
  std::vector<std::string> pages;
  for (const auto& file : std::filesystem::directory_iterator(LEAKGATE_SOURCE_DIR "/docs")) {
    if (file.path().extension() == ".md") pages.push_back(file.path().stem().string());
  }
  EXPECT_THAT(named, testing::UnorderedElementsAreArray(pages));
}

TEST(HelpTextTest, OfEachCommandFitsATerminalAndNamesEachOption) {
  for (const CommandPage& page : AllPages()) {
    std::vector<std::string> arguments = WordsOf(page.prose.name);
    arguments.emplace_back("--help");
    const std::string text = Parse<PrintCommand>(arguments).text;
    EXPECT_THAT(text, Not(testing::ContainsRegex("[^\n]{81}"))) << FullName(page);
    EXPECT_THAT(text, Not(HasSubstr(" \n"))) << FullName(page);
    for (const Option& option : page.options) {
      EXPECT_THAT(text, HasSubstr("\n  " + OptionText(option))) << FullName(page);
    }
    for (const std::string& usage : page.prose.usages) EXPECT_THAT(text, HasSubstr(usage));
  }
}

TEST(ManPageTest, OfEachCommandHasItsSectionsAndEachOption) {
  const std::vector<CommandPage> pages = AllPages();
  for (const CommandPage& page : pages) {
    const std::string text = Read(ManPage(page, pages));
    for (const char* section :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"}) {
      EXPECT_THAT(text, HasSubstr(std::string(".SH ") + section + '\n')) << FullName(page);
    }
    for (const Option& option : page.options) {
      EXPECT_THAT(text, HasSubstr(".TP\n" + OptionText(option) + '\n')) << FullName(page);
    }
    for (const Term& code : page.prose.exit_codes) {
      EXPECT_THAT(text, HasSubstr(".TP\n" + code.term + '\n')) << FullName(page);
    }
  }
}

TEST(ManPageTest, IsFoundByItsWordsAndByItsFileName) {
  const std::string page = Parse<PrintCommand>({"man", "budget", "check"}).text;
  EXPECT_THAT(page, HasSubstr("leakgate\\-budget\\-check \\- say what is wrong"));
  EXPECT_EQ(Parse<PrintCommand>({"man", "leakgate-budget-check"}).text, page);
  EXPECT_EQ(Parse<PrintCommand>({"man", "leakgate"}).text, Parse<PrintCommand>({"man"}).text);
}

// What a shell would make of a hyphen or a typographic quotation mark.
TEST(ManPageTest, ExamplesCanBeCopied) {
  const std::string page = Parse<PrintCommand>({"man"}).text;
  EXPECT_THAT(page, AllOf(HasSubstr("\\-\\-gtest_filter=\\(aqHttp*\\(aq"),
                          Not(HasSubstr("--gtest_filter"))));
}

// What a page offers for the word that stands for a value: of one command, or of any that has it.
OptionValue MeaningOf(const std::string& word, const std::string& command = "") {
  for (const CommandPage& page : AllPages()) {
    if (!command.empty() && page.prose.name != command) continue;
    for (const std::vector<Option>& all : {page.options, page.arguments}) {
      for (const Option& option : all) {
        if (option.value.word == word) return option.value;
      }
    }
  }
  ADD_FAILURE() << word;
  return {};
}

struct ChoiceCase {
  const char* command;
  const char* word;
  std::vector<std::string> before;
  std::vector<std::string> behind;
};

// What shells offer is what the parser takes.
TEST(OptionValueTest, TheParserTakesEachChoiceThatIsOffered) {
  for (const ChoiceCase& it :
       {ChoiceCase{"run", "WHEN", {"run", "--confirm"}, {"--", "a"}},
        ChoiceCase{"run", "HOW", {"run", "--progress"}, {"--", "a"}},
        ChoiceCase{"snapshot export", "FORMAT", {"snapshot", "export", "a", "--format"}, {}},
        ChoiceCase{"recording show", "SUM", {"recording", "show", "a", "--weigh"}, {}},
        ChoiceCase{"snapshot config", "SETTING", {"snapshot", "config", "--pid=1"}, {}},
        ChoiceCase{"completion", "SHELL", {"completion"}, {}}}) {
    const std::vector<std::string> choices = MeaningOf(it.word, it.command).choices;
    EXPECT_GE(choices.size(), 3U);
    for (const std::string& choice : choices) {
      std::vector<std::string> arguments = it.before;
      arguments.push_back(choice);
      arguments.insert(arguments.end(), it.behind.begin(), it.behind.end());
      EXPECT_TRUE(ParseCommandLine(arguments).has_value()) << it.word << ' ' << choice;
    }
  }
}

TEST(OptionValueTest, TheParserTakesEachFormatThatIsOffered) {
  for (const std::string& format : MeaningOf("FORMAT=FILE").choices) {
    EXPECT_EQ(Parse<RunCommand>({"run", "--report", format + "=x", "--", "a"}).reports.size(), 1U);
  }
}

}  // namespace
}  // namespace leakgate
