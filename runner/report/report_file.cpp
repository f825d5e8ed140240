#include "runner/report/report_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string Cause(int error_number) { return std::generic_category().message(error_number); }

Unexpected CannotWrite(const fs::path& path, const std::string& cause, std::string_view remedy) {
  return InconclusiveError(
      fmt::format("cannot write report {}: {}; {}", path.string(), cause, remedy));
}

// These name what this process has open. Replacing the file behind them would
// cut off whatever else is written there.
bool IsOpenFileName(const fs::path& path) {
  const std::string name = path.lexically_normal().generic_string();
  return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/self/fd/");
}

bool IsWrittenDirectly(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return IsOpenFileName(path) || (fs::exists(status) && !fs::is_regular_file(status));
}

// 0 or the error's number. `mode` as of fopen.
int WriteAll(const fs::path& path, const char* mode, std::string_view text) {
  std::FILE* const file = std::fopen(path.string().c_str(), mode);
  if (file == nullptr) return errno;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = written ? 0 : errno;
  const bool closed = std::fclose(file) == 0;  // writes what is still buffered
  if (!written) return write_error;
  return closed ? 0 : errno;
}

Expected<void> WriteDirectly(const fs::path& path, std::string_view text) {
  const int error_number = WriteAll(path, "ab", text);
  if (error_number == 0) return {};
  return CannotWrite(path, Cause(error_number), "make it writable or name another file");
}

// Short whatever the report's own name, which may be as long as names can be.
fs::path TemporaryBeside(const fs::path& target) {
  std::random_device random;
  return target.parent_path() / fmt::format(".leakgate-{:08x}{:08x}.tmp", random(), random());
}

Expected<void> WriteThenRename(const fs::path& path, const fs::path& target,
                               std::string_view text) {
  const fs::path temporary = TemporaryBeside(target);
  std::error_code failure(WriteAll(temporary, "wbx", text), std::generic_category());
  const bool written = !failure;
  if (written) fs::rename(temporary, target, failure);
  if (!failure) return {};

  std::error_code ignored;
  fs::remove(temporary, ignored);
  return CannotWrite(path, failure.message(),
                     "make its directory writable with room for it, or name another file");
}

std::optional<ReportFormat> FormatNamed(std::string_view name) {
  if (name == "json") return ReportFormat::kJson;
  if (name == "html") return ReportFormat::kHtml;
  return std::nullopt;
}

std::string KnownFormats() { return "json, html"; }

}  // namespace

Expected<ReportRequest> ParseReportRequest(std::string_view request) {
  const std::size_t equals = request.find('=');
  if (equals == std::string_view::npos || equals + 1 == request.size()) {
    return UsageError(fmt::format(
        "report '{}' names no file; write FORMAT=FILE, for example json=leakgate.json", request));
  }
  const std::string_view name = request.substr(0, equals);
  const std::optional<ReportFormat> format = FormatNamed(name);
  if (!format) {
    return UsageError(
        fmt::format("report '{}': unknown format '{}'; known: {}", request, name, KnownFormats()));
  }
  return ReportRequest{*format, fs::path(request.substr(equals + 1))};
}

Expected<void> WriteFileAtomically(const fs::path& path, std::string_view text) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) {
    return CannotWrite(path, "it is a directory", "name a file in it");
  }
  if (IsWrittenDirectly(path)) return WriteDirectly(path, text);

  const fs::path resolved = fs::weakly_canonical(path, unknown);
  const fs::path target = unknown ? path : resolved;
  if (target.has_parent_path() && !fs::is_directory(target.parent_path(), unknown)) {
    return CannotWrite(path, "its directory does not exist", "create it first");
  }
  return WriteThenRename(path, target, text);
}

}  // namespace leakgate
