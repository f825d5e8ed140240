#include "runner/run/adopted_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/process/image_inspection.h"
#include "runner/process/process_image.h"
#include "runner/region/amount.h"
#include "runner/run/child_command.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

bool IsGoogleTest(const std::string& program) {
  const Expected<fs::path> found = FindProgram(program);
  if (!found) return false;
  const Expected<ImageInspection> image = InspectImage(*found);
  return image && image->linked.framework == TestFramework::kGoogleTest;
}

Expected<CtestListing> ListCtest(const fs::path& folder, const fs::path& scratch) {
  LEAKGATE_TRY_ASSIGN(const fs::path ctest, FindProgram("ctest"));
  const fs::path output = scratch / "ctest.json";
  LEAKGATE_TRY_ASSIGN(
      [[maybe_unused]] const int exit_code,
      RunToFile({.program = ctest,
                 .arguments = {"--test-dir", PathText(folder), "--show-only=json-v1"},
                 .directory = {},
                 .environment = {}},
                output));
  const auto text = ReadRegularFile(output, std::size_t{1} << 30);
  Expected<CtestListing> listing = ParseCtestListing(text ? *text : "", IsGoogleTest);
  if (!listing) {
    return UsageError(fmt::format("{}: {}", PathText(folder), listing.error().message));
  }
  if (listing->commands.empty()) {
    return UsageError(fmt::format(
        "{}: no test of CTest's runs a binary of GoogleTest's; build it first, or name the binary",
        PathText(folder)));
  }
  return listing;
}

Expected<void> RequireGateable(const CtestCommand& program) {
  if (const Expected<fs::path> found = FindProgram(program.binary); !found) {
    return Unexpected(found.error());
  }
  if (IsGoogleTest(program.binary)) return {};
  return UsageError(
      fmt::format("{}: no GoogleTest binary that can be gated; leakgate doctor {} says why",
                  program.binary, program.binary));
}

}  // namespace

Expected<std::vector<CtestCommand>> FindAdoptedPrograms(
    const AdoptedTargets& targets, const fs::path& scratch,
    const std::function<void(const std::string& line)>& tell) {
  std::vector<CtestCommand> programs;
  if (!targets.program.empty()) {
    const std::string& binary = targets.program.front();
    programs.push_back({binary, {targets.program.begin() + 1, targets.program.end()}, {}, {}});
  }
  for (const fs::path& target : targets.files_and_folders) {
    std::error_code ignored;
    if (!fs::is_directory(target, ignored)) {
      const std::string name = PathText(target);
      programs.push_back({name.find('/') == std::string::npos ? "./" + name : name, {}, {}, {}});
      continue;
    }
    LEAKGATE_TRY_ASSIGN(CtestListing listing, ListCtest(target, scratch));
    if (listing.others != 0) {
      tell(fmt::format("{}: left out {} that no GoogleTest binary runs", PathText(target),
                       FormatCount(listing.others, "test")));
    }
    std::move(listing.commands.begin(), listing.commands.end(), std::back_inserter(programs));
  }
  for (const CtestCommand& program : programs) {
    LEAKGATE_TRY(RequireGateable(program));
  }
  return programs;
}

bool RunsOneTest(const CtestCommand& program) {
  return std::any_of(program.arguments.begin(), program.arguments.end(),
                     [](const std::string& argument) {
                       return argument.starts_with("--gtest_filter=") &&
                              argument.find_first_of("*:") == std::string::npos;
                     });
}

std::vector<std::string> BinariesOf(const std::vector<CtestCommand>& programs) {
  std::vector<std::string> binaries;
  for (const CtestCommand& program : programs) {
    const auto known = std::find(binaries.begin(), binaries.end(), program.binary);
    if (known == binaries.end()) binaries.push_back(program.binary);
  }
  return binaries;
}

std::string ProgramsText(const std::vector<CtestCommand>& programs) {
  const std::vector<std::string> binaries = BinariesOf(programs);
  std::string text =
      binaries.size() == 1 ? binaries.front() : fmt::format("{} binaries", binaries.size());
  if (programs.size() > binaries.size()) {
    text += fmt::format(" in {} processes", programs.size());
  }
  return text;
}

}  // namespace leakgate
