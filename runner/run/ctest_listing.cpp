#include "runner/run/ctest_listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

std::vector<std::string> TextsIn(const Json& array) {
  std::vector<std::string> texts;
  if (!array.is_array()) return texts;
  for (const Json& text : array) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

Json PropertyOf(const Json& test, std::string_view name) {
  const auto properties = test.find("properties");
  if (properties == test.end() || !properties->is_array()) return {};
  for (const Json& property : *properties) {
    if (property.is_object() && property.value("name", "") == name) return property["value"];
  }
  return {};
}

// Returns the command behind the two dashes of `leakgate run`, nothing of other commands of
// leakgate's, such as the merge of leakgate.summary, and any other command itself.
std::vector<std::string> Unwrapped(std::vector<std::string> command) {
  if (command.empty() || !command[0].ends_with("/leakgate")) return command;
  const auto dashes = std::find(command.begin(), command.end(), "--");
  if (command[1 % command.size()] != "run" || dashes == command.end()) return {};
  command.erase(command.begin(), dashes + 1);
  return command;
}

}  // namespace

Expected<CtestListing> ParseCtestListing(const std::string& json,
                                         const std::function<bool(const std::string&)>& is_wanted) {
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object() || !root.contains("tests") || !root["tests"].is_array()) {
    return Unexpected(
        Error{"ctest --show-only=json-v1 printed no list of tests; it needs CMake "
              "3.14 or later"});
  }
  CtestListing listing;
  for (const Json& test : root["tests"]) {
    const std::vector<std::string> command = Unwrapped(TextsIn(test.value("command", Json())));
    if (command.empty() || !is_wanted(command.front())) {
      ++listing.others;
      continue;
    }
    CtestCommand wanted{command.front(), {command.begin() + 1, command.end()}, {}, {}};
    std::erase_if(wanted.arguments,
                  [](const std::string& argument) { return argument.starts_with(kOutputFlag); });
    const Json directory = PropertyOf(test, "WORKING_DIRECTORY");
    if (directory.is_string()) wanted.directory = directory.get<std::string>();
    wanted.environment = TextsIn(PropertyOf(test, "ENVIRONMENT"));
    const bool is_known = std::find(listing.commands.begin(), listing.commands.end(), wanted) !=
                          listing.commands.end();
    if (!is_known) listing.commands.push_back(std::move(wanted));
  }
  return listing;
}

}  // namespace leakgate
