#include "runner/process/process_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"
#include "runner/process/called_name.h"
#include "runner/process/nt/command_line.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

UniqueFd OpenProcessFor(DWORD rights, int pid) {
  return OwnHandle(OpenProcess(rights, FALSE, static_cast<DWORD>(pid)));
}

bool LeadsTo(const fs::path& name, const fs::path& image) {
  std::error_code error;
  return fs::equivalent(name, image, error) && !error;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// As CreateProcess: a name without an extension means a program.
fs::path WithExtension(const fs::path& path) {
  if (path.has_extension() || IsFile(path)) return path;
  fs::path whole = path;
  whole += L".exe";
  return whole;
}

}  // namespace

std::string ImageOf(int pid) {
  const UniqueFd process = OpenProcessFor(PROCESS_QUERY_LIMITED_INFORMATION, pid);
  std::wstring path(32'768, L'\0');
  auto length = static_cast<DWORD>(path.size());
  if (!process || !QueryFullProcessImageNameW(HandleOf(process), 0, path.data(), &length))
    return "";
  path.resize(length);
  return Utf8Of(path);
}

ExecutedProgram ExecutedProgramOf(int pid) {
  const std::string image = WithSlashes(ImageOf(pid));
  return {image, ArgumentsOf(pid), image};
}

std::string ProgramOf(int pid) { return ImageOf(pid); }

std::string ImageBehind(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(WideOf(path), error);
  return error ? path : Utf8Of(whole.native());
}

std::vector<std::string> ArgumentsOf(int pid) { return ArgumentsInLine(CommandLineOf(pid)); }

UniqueFd WatchEnd(int pid) { return OpenProcessFor(SYNCHRONIZE, pid); }

bool HasEnded(const UniqueFd& watch) {
  return !watch || WaitForSingleObject(HandleOf(watch), 0) == WAIT_OBJECT_0;
}

void AwaitEnd(const UniqueFd& watch, std::chrono::milliseconds patience) {
  const auto most = static_cast<DWORD>(std::max<std::int64_t>(patience.count(), 0));
  if (watch) {
    WaitForSingleObject(HandleOf(watch), most);
  } else {
    Sleep(most);
  }
}

Expected<fs::path> FindProgram(const std::string& name) {
  const fs::path typed = WideOf(name);
  if (typed.has_parent_path() || typed.has_root_name()) {
    const fs::path path = WithExtension(typed);
    std::error_code error;
    if (!fs::exists(path, error)) {
      return UsageError(
          fmt::format("{}: no such program; build it first, or correct the path", name));
    }
    if (!IsFile(path)) {
      return UsageError(
          fmt::format("{}: not an executable file; name the test binary itself", name));
    }
    return path;
  }
  std::wstring found(32'768, L'\0');
  found.resize(SearchPathW(EnvironmentVariable(L"PATH").c_str(), typed.c_str(), L".exe",
                           static_cast<DWORD>(found.size()), found.data(), nullptr));
  if (!found.empty() && IsFile(found)) return fs::path(found);
  return UsageError(fmt::format(
      "{}: not found in PATH; for a program in this directory write .\\{}", name, name));
}

std::string CalledName(const fs::path& called, const fs::path& image) {
  return Utf8Of((LeadsTo(called, image) ? called : image).native());
}

}  // namespace leakgate
