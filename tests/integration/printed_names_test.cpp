// Names that try to be more than text where they are printed: they forge lines of a workflow, or
// control a terminal. Every command is given them wherever it takes a name, and what it prints is
// text and nothing else. A new message needs a line in a table below.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Json = nlohmann::json;

// As a name of JSON's, which has to be UTF-8.
const std::string kHostileText =
    "x\n::error::forged\r::error::forged\x1b]0;title\x07\x1b[2J\x1b[31m\u202e\u009b31m\u2028\x7f"
    "%0A::error::forged ##[error]forged ##vso[task.complete]";
// As a name of a file.
const std::string kHostile = kHostileText + "\xff\xc3";

bool IsUtf8(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore).size() ==
         Json(text).dump(-1, ' ', false, Json::error_handler_t::replace).size();
}

// What a terminal, or who reads lines, takes for more than text.
std::vector<std::string> ForgeriesIn(const std::string& text) {
  std::vector<std::string> forgeries;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) forgeries.push_back("control character");
  }
  for (const char* const part : {"\u202e", "\u009b", "\u2028"}) {
    if (text.find(part) != std::string::npos) forgeries.emplace_back("unseen character");
  }
  if (!IsUtf8(text)) forgeries.emplace_back("no UTF-8");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.starts_with("::")) forgeries.push_back("line " + line);
  }
  for (const char* const part : {"##[", "##vso["}) {
    if (text.find(part) != std::string::npos) forgeries.emplace_back(part);
  }
  std::sort(forgeries.begin(), forgeries.end());
  forgeries.erase(std::unique(forgeries.begin(), forgeries.end()), forgeries.end());
  return forgeries;
}

// `json` with hostile names in the place of all that a program, or a file, may name.
Json WithHostileNames(Json json) {
  const std::vector<std::string> names = {"binary", "name",     "component",   "owner",    "file",
                                          "module", "function", "source_file", "holder",   "reason",
                                          "thread", "text",     "explanation", "allowance"};
  for (auto& [key, value] : json.items()) {
    const bool is_name = std::find(names.begin(), names.end(), key) != names.end();
    if (is_name && (value.is_string() || value.is_null())) {
      value = kHostileText;
    } else if (key == "arguments" || key == "reasons" || key == "warnings" || key == "failures") {
      value = {kHostileText};
    } else if (value.is_structured()) {
      value = WithHostileNames(std::move(value));
    }
  }
  return json;
}

const char* const kBudget = R"({"component": NAME, "owner": NAME,
  "limits": {"test": {"outstanding": {"bytes": 10}}},
  "allowances": [{"stack": [NAME], "reason": NAME}],
  "overrides": [{"tests": ["Kinds.*"], "limits": {"test": {"outstanding": {"bytes": 1}}},
                 "reason": NAME}, {"tests": [NAME], "reason": NAME, "expires": "2020-01-01",
                 "limits": {"test": {"outstanding": {"bytes": 1}}}}]})";

// Files with hostile names, and with hostile names in them. Words in braces stand for them.
class PrintedNamesTest : public testing::Test {
 protected:
  PrintedNamesTest() {
    for (const char* const name : {"program", "budget", "bad", "result", "broken", "text", "gone",
                                   "folder", "history", "snapshots", "own"}) {
      words_[name] = directory_.File(std::string(name) + kHostile);
    }
    words_["name"] = kHostile;
    words_["begin"] = "::error::forged ##[error]forged";
    words_["budget"] += ".leakgate.json";
    words_["bad"] += ".leakgate.json";
    words_["result"] += ".json";
    words_["broken"] += ".json";
    words_["folder_of_all"] = directory_.path();
    fs::copy_file(FixturePath("kinds_untouched"), Word("program"));
    fs::create_directory(Word("folder"));
    Write("text", "no program");
    Write("bad",
          R"({"component": "a", ")" + std::string("\u202e\u009b") + R"(": 1, "limits": []})");
    std::string budget = kBudget;
    const std::string name = Json(kHostileText).dump();
    for (std::size_t at = 0; (at = budget.find("NAME", at)) != std::string::npos;) {
      budget.replace(at, 4, name);
      at += name.size();
    }
    Write("budget", budget);
    const Json run =
        RunByDefault({FixturePath("kinds_untouched"), "--gtest_filter=Kinds.Malloc"}).report;
    Write("result", WithHostileNames(run).dump());
    Write("broken", R"({"schema": "leakgate-report-2", "binary": ")" + kHostile);
  }

  const std::string& Word(const std::string& name) const { return words_.at(name); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Word(name)) << text;
  }

  CommandResult Run(const std::string& command) const {
    std::istringstream parts(command);
    Command arguments = {LeakgatePath()};
    for (std::string part; parts >> part;) {
      for (const auto& [name, word] : words_) {
        const std::string placeholder = "{" + name + "}";
        const std::size_t at = part.find(placeholder);
        if (at != std::string::npos) part.replace(at, placeholder.size(), word);
        if (at != std::string::npos) break;
      }
      arguments.push_back(part);
    }
    return RunCommand(arguments, {.directory = directory_.path()});
  }

  void ExpectTextOnly(const std::string& command) const {
    const CommandResult run = Run(command);
    EXPECT_EQ(run.signal, 0) << command;
    EXPECT_NE(run.standard_error + run.standard_output, "") << command;
    for (const std::string& text : {run.standard_error, run.standard_output}) {
      EXPECT_THAT(ForgeriesIn(text), testing::IsEmpty()) << command << "\n" << text;
    }
  }

  const TemporaryDirectory directory_;
  std::map<std::string, std::string> words_;
};

TEST_F(PrintedNamesTest, OfCommandLinesAreText) {
  for (const char* const command : {"{name}",
                                    "{begin}",
                                    "run --{name}",
                                    "run {name}",
                                    "merge --{name}",
                                    "budget {name}",
                                    "run --timeout {name} -- true",
                                    "run --confirm={name} -- true",
                                    "run --progress={name} -- true",
                                    "run --stack-depth {name} -- true",
                                    "run --skip-exit-code {name} -- true",
                                    "run --when {name} --snapshots a -- true",
                                    "run --report {name} -- true",
                                    "run --report {name}=file -- true",
                                    "run --report json={{name} -- true",
                                    "run --report json={{name}} -- true",
                                    "run --report json={env:{name}} -- true",
                                    "run --source-root {gone} -- true",
                                    "doctor --{name}",
                                    "explain {name} --{name}",
                                    "completion {name}",
                                    "man {name}",
                                    "session {name}",
                                    "session start {name} --image a",
                                    "session query {name}",
                                    "session stop {name}",
                                    "session exec {name} -- true",
                                    "session update {name} --add {name}",
                                    "session start a --image {name}: --stacks {name}",
                                    "session start a --pid {name}",
                                    "snapshot {name}",
                                    "snapshot take --pid {name}",
                                    "snapshot take --pid 1 --session {name}",
                                    "snapshot config --pid {name}",
                                    "snapshot config --query --image {name}",
                                    "snapshot config --query --image {begin}",
                                    "snapshot periodic --pid 1 --every {name}",
                                    "history {name}",
                                    "merge {result} --expect {name}",
                                    "history add {history} {result} --time {name}"}) {
    ExpectTextOnly(command);
  }
}

TEST_F(PrintedNamesTest, OfProgramsAreText) {
  for (const char* const command :
       {"run -- {gone}",
        "run -- {text}",
        "run -- {folder}",
        "run -- {program}",
        "run -v -- {program} --gtest_filter=*Malloc* --{name}",
        "run --budgets {budget} -- {program}",
        "run --budgets {budget} --strict -- {program}",
        "run --budgets {bad} -- {program}",
        "run --budgets {gone} -- {program}",
        "run --budgets {folder} -- {program}",
        "run --baseline {gone} -- {program}",
        "run --baseline {broken} -- {program}",
        "run --baseline {result} -- {program}",
        "run --snapshots {snapshots} --when every -- {program} --gtest_filter=Kinds.Malloc",
        "run --snapshots {text} -- {program}",
        "run --report json={folder}/a/b -- {program}",
        "run --report json={folder} -- {program}",
        "doctor {program}",
        "doctor {gone}",
        "doctor {text}",
        "session exec a -- {gone}",
        "session start a --image a -- {gone}"}) {
    ExpectTextOnly(command);
  }
}

TEST_F(PrintedNamesTest, OfBudgetsAreText) {
  for (const char* const command :
       {"budget check {budget}", "budget check {bad}", "budget check {gone}",
        "budget check {folder}", "budget check {folder_of_all}",
        "budget check {budget} -- {program}", "budget check {budget} -- {gone}",
        "budget init --component {name} -o {own} -- {program}",
        "budget init --component {name} -o {own} -- {program}",
        "budget init --component {name} -o {gone}/a -- {program}",
        "budget ratchet --check --budgets {budget} -- {program}",
        "budget ratchet --check --budgets {budget} -- {program} --gtest_filter=None",
        "budget ratchet --budgets {bad} -- {program}", "explain {name} --budgets {budget}",
        "explain {begin} --budgets {budget}", "explain {name} --budgets {budget} -- {program}",
        "explain Kinds.Malloc --budgets {budget} -- {program}",
        "explain Kinds.Malloc --budgets {gone}"}) {
    ExpectTextOnly(command);
  }
}

TEST_F(PrintedNamesTest, OfResultsAreText) {
  for (const char* const command : {"merge {result}",
                                    "merge {result} {result}",
                                    "merge {gone}",
                                    "merge {broken}",
                                    "merge {folder_of_all}",
                                    "merge {text}",
                                    "merge {result} -o {folder}",
                                    "merge {result} -o {gone}/a",
                                    "merge {result} --baseline {gone} --report html=page",
                                    "merge {result} --baseline {gone}",
                                    "merge {result} --report html=page --source-root {gone}",
                                    "history add {history} {result} --commit {name}",
                                    "history add {history} {result}",
                                    "history add {text} {result}",
                                    "history add {gone}/a {result}",
                                    "history add {folder} {result}",
                                    "history add {history} {broken}",
                                    "history show {history}",
                                    "history show {gone}",
                                    "history show {text}",
                                    "history trend {history}",
                                    "history trend {history} --test",
                                    "history trend {history} --call-site",
                                    "history show {history} --component {name}"}) {
    ExpectTextOnly(command);
  }
}

TEST_F(PrintedNamesTest, OfSnapshotsAreText) {
  ASSERT_EQ(Run("run --snapshots {snapshots} --when every -- {program} "
                "--gtest_filter=Kinds.Malloc")
                .signal,
            0);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(Word("snapshots"))) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 2u);
  words_["first"] = files[0];
  words_["second"] = files[1];
  for (const char* const command :
       {"snapshot show {first}",
        "snapshot show {second} --view tree",
        "snapshot show {second} --group-by site",
        "snapshot show {second} --group-by stack",
        "snapshot show {second} --group-by module",
        "snapshot show {second} --group-by window",
        "snapshot show {second} --group-by component --budgets {budget}",
        "snapshot show {second} --group-by {name}",
        "snapshot show {second} --view {name}",
        "snapshot show {second} --filter {name}",
        "snapshot show {gone}",
        "snapshot show {text}",
        "snapshot show {folder}",
        "snapshot show {second} --symbols {gone}",
        "snapshot diff {first} {second}",
        "snapshot diff {second} {first}",
        "snapshot diff {first} {gone}",
        "snapshot diff {first} {second} --html {gone}/a",
        "snapshot diff {first} {second} --html {text} --source-root {gone}",
        "snapshot export {second} --format html --source-root {gone}",
        "snapshot export {second} --format {name}",
        "snapshot export {second} --format folded -o {gone}/a"}) {
    ExpectTextOnly(command);
  }
}

// A session's image may be any word, and another user's session may have any name.
TEST_F(PrintedNamesTest, OfSessionsAreText) {
  const std::string session = "printed-" + std::to_string(::getpid());
  ExpectTextOnly("session start " + session + " --image {name}");
  ExpectTextOnly("session query " + session);
  ExpectTextOnly("session list");
  ExpectTextOnly("snapshot config --query --image {name}");
  EXPECT_EQ(ForgeriesIn(Run("session query " + session + " --json").standard_output),
            std::vector<std::string>());
  ExpectTextOnly("session stop " + session + " -o {gone}/a.snapshot");
  EXPECT_EQ(Run("session stop " + session).exit_code, 0);
}

TEST_F(PrintedNamesTest, OfJsonStayWholeAndAreText) {
  ASSERT_EQ(Run("history add {history} {result} --commit {begin}").exit_code, 0);
  for (const char* const command :
       {"history show {history} --json", "history trend {history} --json",
        "history trend {history} --json --call-site"}) {
    const CommandResult run = Run(command);
    EXPECT_THAT(ForgeriesIn(run.standard_output), testing::IsEmpty()) << command;
    const Json json = Json::parse(run.standard_output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << command;
    EXPECT_THAT(json.dump(), HasSubstr("::error::forged"));
  }
}

// What a format may hold besides text is its own.
TEST_F(PrintedNamesTest, OfReportsForgeNothing) {
  for (const std::string format : {"junit", "github", "markdown", "folded"}) {
    const std::string report = directory_.File("report." + format);
    EXPECT_EQ(Run("merge {result} --report " + format + "=" + report).exit_code, 1) << format;
    std::string text = ReadFile(report);
    EXPECT_NE(text, "");
    for (const std::string own : {"\n::error file=", "\n::error title=", "\n::warning title="}) {
      for (std::size_t at = 0; (at = ("\n" + text).find(own, at)) != std::string::npos;) {
        text.replace(at, 2, "  ");
      }
    }
    std::vector<std::string> forgeries = ForgeriesIn(text);
    // A file is read by what knows its format, and not line by line.
    std::erase(forgeries, "##[");
    std::erase(forgeries, "##vso[");
    EXPECT_THAT(forgeries, testing::IsEmpty()) << format;
    if (format == "github") {
      EXPECT_EQ(text.find("%0A::error"), std::string::npos);
    }
  }
  for (const std::string format : {"json", "sarif", "gitlab", "speedscope"}) {
    const std::string report = directory_.File("report." + format);
    EXPECT_EQ(Run("merge {result} --report " + format + "=" + report).exit_code, 1) << format;
    EXPECT_FALSE(Json::parse(ReadFile(report), nullptr, false).is_discarded()) << format;
  }
}

}  // namespace
}  // namespace leakgate::test
