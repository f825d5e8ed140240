#include "runner/run/gtest_output.h"

#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string_view>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

// Of a suite, whose name is a part of each of its tests' names. Templates' are a few hundred.
constexpr std::size_t kMostNameBytes = 4096;

TestStatus StatusFrom(bool is_skipped, bool has_failures) {
  if (is_skipped) return TestStatus::kSkipped;
  return has_failures ? TestStatus::kFailed : TestStatus::kPassed;
}

TestStatuses ParseXml(const std::string& text) {
  TestStatuses statuses;
  pugi::xml_document document;
  if (!document.load_string(text.c_str())) return statuses;
  for (const pugi::xml_node suite : document.child("testsuites").children("testsuite")) {
    const std::string suite_name = suite.attribute("name").value();
    if (suite_name.size() > kMostNameBytes) continue;
    for (const pugi::xml_node test : suite.children("testcase")) {
      const std::string name = suite_name + '.' + test.attribute("name").value();
      const bool is_skipped = std::string_view(test.attribute("result").value()) == "skipped";
      statuses[name] = StatusFrom(is_skipped, !test.child("failure").empty());
    }
  }
  return statuses;
}

std::string TextAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

TestStatuses ParseJson(const std::string& text) {
  TestStatuses statuses;
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object()) return statuses;
  for (const nlohmann::json& suite : root.value("testsuites", nlohmann::json::array())) {
    if (!suite.is_object()) continue;
    const std::string suite_name = TextAt(suite, "name");
    if (suite_name.size() > kMostNameBytes) continue;
    for (const nlohmann::json& test : suite.value("testsuite", nlohmann::json::array())) {
      if (!test.is_object()) continue;
      statuses[suite_name + '.' + TextAt(test, "name")] =
          StatusFrom(TextAt(test, "result") == "SKIPPED", test.contains("failures"));
    }
  }
  return statuses;
}

std::filesystem::path DefaultPath(const std::filesystem::path& given, const std::string& program,
                                  const char* extension) {
  if (given.empty()) return std::string("test_detail.") + extension;
  if (!given.has_filename()) {
    return given / (FileNameIn(program) + "." + extension);
  }
  return given;
}

}  // namespace

std::optional<GtestOutput> FindGtestOutput(const std::string& program,
                                           const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& environment) {
  const std::optional<std::string> target = OutputOf(arguments, environment);
  if (!target || target->empty()) return std::nullopt;

  const std::size_t colon = target->find(':');
  const std::string format = target->substr(0, colon);
  const std::string path = colon == std::string::npos ? "" : target->substr(colon + 1);
  if (format == "xml")
    return GtestOutput{GtestOutputFormat::kXml, DefaultPath(path, program, "xml")};
  if (format == "json") {
    return GtestOutput{GtestOutputFormat::kJson, DefaultPath(path, program, "json")};
  }
  return std::nullopt;
}

TestStatuses ParseGtestOutput(GtestOutputFormat format, const std::string& text) {
  return format == GtestOutputFormat::kXml ? ParseXml(text) : ParseJson(text);
}

TestStatuses ReadGtestOutput(const GtestOutput& output, std::filesystem::file_time_type begin) {
  constexpr std::uint64_t kMostBytes = 256UL * 1024 * 1024;
  std::error_code error;
  const auto written = std::filesystem::last_write_time(output.path, error);
  if (error || written < begin) return {};
  // The tests may have put anything there, so it is read with care.
  const auto text = ReadRegularFile(output.path, kMostBytes);
  return text ? ParseGtestOutput(output.format, *text) : TestStatuses();
}

}  // namespace leakgate
