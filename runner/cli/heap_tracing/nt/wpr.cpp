#include "runner/cli/heap_tracing/nt/wpr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "runner/base/path_text.h"
#include "runner/run/nt/start_process.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOutput = 400;  // bytes that are told

// What a program says, in one line.
std::string OneLineOf(const std::string& output) {
  std::string line;
  for (const char c : output) {
    const bool is_space = static_cast<unsigned char>(c) <= ' ';
    if (!is_space) line += c;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
    if (line.size() == kMostOutput) break;
  }
  while (!line.empty() && std::string_view(" .").find(line.back()) != std::string_view::npos) {
    line.pop_back();
  }
  return line;
}

// Reads until all who may write have closed it.
std::string ReadAll(const UniqueFd& pipe) {
  std::string output;
  char bytes[4096];
  DWORD count = 0;
  while (ReadFile(HandleOf(pipe), bytes, sizeof(bytes), &count, nullptr) && count != 0) {
    if (output.size() < 16 * kMostOutput) output.append(bytes, count);
  }
  return output;
}

std::wstring TemporaryFolderName() {
  std::random_device random;
  return WideOf(fmt::format(".leakgate-{:08x}{:08x}", random(), random()));
}

Unexpected CannotKeep(const fs::path& file, const std::string& cause, const fs::path& where) {
  return InconclusiveError(fmt::format("--etl {}: {}; the recording is whole in {}", PathText(file),
                                       cause, PathText(where)));
}

}  // namespace

Expected<Wpr> Wpr::Find() {
  std::vector<fs::path> places;
  const fs::path system = SystemFolder();
  if (!system.empty()) places.push_back(system / L"wpr.exe");
  for (const fs::path& kits : KitsFolders()) {
    places.push_back(kits / L"Windows Performance Toolkit" / L"wpr.exe");
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) return Wpr(place);
  }
  return UsageError(
      "--etl: there is no wpr.exe in System32 and none of Windows' kits; install the Windows "
      "Performance Toolkit");
}

Expected<void> Wpr::Run(const std::vector<std::string>& arguments) const {
  const std::string line = fmt::format("wpr {}", fmt::join(arguments, " "));
  HANDLE read_end = nullptr;
  HANDLE write_end = nullptr;
  SECURITY_ATTRIBUTES inheritable{sizeof(inheritable), nullptr, TRUE};
  if (!CreatePipe(&read_end, &write_end, &inheritable, 0)) {
    return InconclusiveError(
        fmt::format("{}: cannot be called: {}; try again", line, WindowsErrorText()));
  }
  const UniqueFd to_read = OwnHandle(read_end);
  UniqueFd to_write = OwnHandle(write_end);
  SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
  const auto started =
      StartProcess({.program = path_, .name = "wpr", .arguments = arguments, .output = write_end});
  if (!started) {
    return InconclusiveError(
        fmt::format("{}: cannot be started: {}; see whether it can be started "
                    "in a console",
                    PathText(path_), WindowsErrorText()));
  }
  to_write.Reset();
  const std::string output = ReadAll(to_read);
  WaitForSingleObject(HandleOf(started->process), INFINITE);
  DWORD code = 1;
  GetExitCodeProcess(HandleOf(started->process), &code);
  if (code == 0) return {};
  return InconclusiveError(
      fmt::format("{} failed with {:#x}: {}; it takes an administrator, and no other recording",
                  line, code, OneLineOf(output)));
}

Expected<void> Wpr::CheckPlace(const fs::path& file) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error))) {
    return UsageError(fmt::format("--etl {}: is there already; name another file", PathText(file)));
  }
  const fs::path folder = fs::absolute(file, error).parent_path();
  if (file.has_filename() && fs::is_directory(folder, error)) return {};
  return UsageError(
      fmt::format("--etl {}: there is no folder for it; make it first", PathText(file)));
}

Expected<void> Wpr::StopInto(const fs::path& file) const {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  const fs::path folder = whole.parent_path() / TemporaryFolderName();
  const fs::path written = folder / whole.filename();
  if (!fs::create_directory(folder, error)) {
    return UsageError(fmt::format("--etl {}: nothing can be written there: {}; name another folder",
                                  PathText(file), error.message()));
  }
  const Expected<void> stopped =
      Run({"-stop", Utf8Of(fs::path(written).make_preferred().native())});
  const bool is_there = fs::is_regular_file(written, error) && !fs::is_empty(written, error);
  if (!stopped || !is_there) {
    fs::remove_all(folder, error);
    if (!stopped) return stopped;
    return InconclusiveError("wpr -stop has written nothing; see whether a recording was running");
  }
  if (!MoveFileExW(written.c_str(), whole.c_str(), MOVEFILE_WRITE_THROUGH)) {
    return CannotKeep(file, WindowsErrorText(), written);
  }
  const fs::path symbols = fs::path(written) += L".NGENPDB";
  const fs::path beside = fs::path(whole) += L".NGENPDB";
  if (fs::exists(symbols, error) && !MoveFileExW(symbols.c_str(), beside.c_str(), 0)) {
    return CannotKeep(file, "its folder of symbols cannot be put beside it", symbols);
  }
  fs::remove(folder, error);
  return {};
}

}  // namespace leakgate
