#include "runner/run/test_listing.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <nlohmann/json.hpp>

#include "runner/base/descriptors.h"
#include "runner/result/gtest_flags.h"
#include "runner/symbols/debug_facts.h"

namespace leakgate {
namespace {

namespace process = boost::process::v2;

// Has the child die with the runner. Called in the child between fork and exec.
struct DieWithRunner {
  template <typename Launcher>
  boost::system::error_code on_exec_setup(Launcher&, const boost::filesystem::path&,
                                          const char* const*&) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return {};
  }
};

// The program may write anything, without an end. A suite's name is a part of each of its tests'
// names; even names of templates have only a few hundred bytes.
constexpr std::size_t kMostListBytes = 256 << 20;
constexpr std::size_t kMostListedNameBytes = 4096;

// Runs the program to its end, but for a minute at most.
void RunSilently(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  boost::asio::io_context context;
  boost::system::error_code error;
  process::default_process_launcher launcher;
  auto child =
      launcher(context.get_executor(), error, boost::filesystem::path(program.string()), arguments,
               process::process_stdio{nullptr, nullptr, nullptr}, DieWithRunner{});
  if (error) return;

  boost::asio::steady_timer timer(context, std::chrono::minutes(1));
  timer.async_wait([&](const boost::system::error_code& cancelled) {
    boost::system::error_code ignored;
    if (!cancelled) child.terminate(ignored);
  });
  child.async_wait([&](const boost::system::error_code&, int) { timer.cancel(); });
  context.run();
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[1 << 16];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, buffer, sizeof(buffer), at);
    if (got <= 0) return text;
    if (text.size() > kMostListBytes) return {};
    text.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

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

// The program writes the list to memory, through /proc, so no file is left behind.
TestSources ListTests(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments) {
  const UniqueFd memory(::memfd_create("leakgate-tests", MFD_CLOEXEC));
  if (!memory) return {};
  std::vector<std::string> listing = arguments;
  listing.emplace_back(kListTestsFlag);
  listing.push_back(fmt::format("{}json:/proc/{}/fd/{}", kOutputFlag, ::getpid(), memory.get()));
  RunSilently(program, listing);
  TestSources tests = ParseTestList(ReadAll(memory.get()));
  ResolveRelativeFiles(program, tests);
  return tests;
}

}  // namespace leakgate
