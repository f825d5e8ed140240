#include "runner/run/test_listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/run/silent_run.h"
#include "runner/symbols/debug_facts.h"

namespace leakgate {
namespace {

// A suite's name is a part of each of its tests' names; even names of templates have only a few
// hundred bytes.
constexpr std::size_t kMostListedNameBytes = 4096;

// GoogleTest reports files as they were given to the compiler. This makes relative ones absolute.
void ResolveRelativeFiles(const std::filesystem::path& program, TestSources& tests) {
  const auto is_relative = [](const auto& test) {
    return !test.second.file.empty() && std::filesystem::path(test.second.file).is_relative();
  };
  if (std::none_of(tests.begin(), tests.end(), is_relative)) return;  // the reading is slow
  const CompiledFiles files(program);
  for (auto& [name, source] : tests) source.file = files.Find(source.file).value_or(source.file);
}

using Json = nlohmann::json;

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Takes each test out of the list as soon as that has been parsed up to its end, so that the JSON
// of one test is held at a time. A suite's name may follow its tests.
//
//   {"testsuites": [{"name": "Suite", "testsuite": [{"name": "Test", "file": .., "line": ..}]}]}
//   0               2                              4
class ListedTests {
 public:
  // Is called with the parser's events. Returns whether the parser keeps the value.
  bool Take(int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key) NoteKey(depth, parsed);
    if (event != Json::parse_event_t::object_end || !is_in_suites_) return true;
    if (depth == kTestDepth && is_in_suite_) {
      const auto line = parsed.find("line");
      const bool has_line = line != parsed.end() && line->is_number_integer();
      of_suite_.emplace_back(TextOf(parsed, "name"),
                             TestSource{TextOf(parsed, "file"), has_line ? line->get<int>() : 0});
      return false;
    }
    if (depth != kSuiteDepth) return true;
    EndSuite(TextOf(parsed, "name"));
    return false;
  }

  [[nodiscard]] TestSources tests() { return std::move(tests_); }

 private:
  static constexpr int kSuiteDepth = 2;
  static constexpr int kTestDepth = 4;

  void NoteKey(int depth, const Json& key) {
    if (depth == kSuiteDepth - 1) is_in_suites_ = key == "testsuites";
    if (depth == kTestDepth - 1) is_in_suite_ = key == "testsuite";
  }

  void EndSuite(const std::string& name) {
    if (name.size() <= kMostListedNameBytes) {
      for (auto& [test, source] : of_suite_) tests_[name + '.' + test] = std::move(source);
    }
    of_suite_.clear();
  }

  bool is_in_suites_ = false;
  bool is_in_suite_ = false;
  std::vector<std::pair<std::string, TestSource>> of_suite_;
  TestSources tests_;
};

}  // namespace

TestSources ParseTestList(const std::string& json) {
  ListedTests listed;
  const auto on_event = [&listed](int depth, Json::parse_event_t event, Json& parsed) {
    return listed.Take(depth, event, parsed);
  };
  const Json root = Json::parse(json, on_event, false);
  return root.is_object() ? listed.tests() : TestSources();
}

TestSources ListTests(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments) {
  TestSources tests = ParseTestList(ListTestsAsJson(program, arguments));
  ResolveRelativeFiles(program, tests);
  return tests;
}

}  // namespace leakgate
