#include "runner/cli/commands/gate_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runner/base/path_text.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string NormalText(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return PathText(normal.has_filename() ? normal : normal.parent_path());
}

// Returns the top folder of the CMake project that `directory` is in; empty if it is in none.
fs::path ProjectAround(fs::path directory) {
  fs::path project;
  std::error_code ignored;
  while (fs::exists(directory / "CMakeLists.txt", ignored)) {
    project = directory;
    if (!directory.has_relative_path()) break;
    directory = directory.parent_path();
  }
  return project;
}

}  // namespace

std::string CmakePath(const fs::path& path, const fs::path& directory) {
  const std::string absolute = NormalText(directory / path);
  const fs::path project = ProjectAround(directory);
  if (project.empty()) return absolute;
  const std::string below = PathText(fs::path(absolute).lexically_relative(project));
  if (below == ".") return "${CMAKE_SOURCE_DIR}";
  return below.starts_with("..") ? absolute : "${CMAKE_SOURCE_DIR}/" + below;
}

std::string GateInstructions(const GateFiles& files, const std::vector<std::string>& binaries) {
  constexpr std::size_t kMostTold = 3;
  const std::size_t told = std::min(binaries.size(), kMostTold);
  std::string text;
  for (std::size_t i = 0; i < told; ++i) {
    text += "  leakgate run";
    if (files.budgets) text += " --budgets " + Printable(files.budgets->string());
    if (files.baseline) text += " --baseline " + Printable(files.baseline->string());
    text += fmt::format(" -- {}\n", Printable(binaries[i]));
  }
  if (binaries.size() > told) {
    const auto more = static_cast<std::int64_t>(binaries.size() - told);
    text += fmt::format("and the same for {} more binar{}\n", more, more == 1 ? "y" : "ies");
  }
  text += "In CMakeLists.txt, each test gated:\n  leakgate_discover_tests(TARGET";
  const fs::path here = fs::current_path();
  if (files.budgets) text += " BUDGETS " + Printable(CmakePath(*files.budgets, here));
  if (files.baseline) {
    text += " LEAKGATE_ARGS --baseline " + Printable(CmakePath(*files.baseline, here));
  }
  return text + ")\n";
}

}  // namespace leakgate
