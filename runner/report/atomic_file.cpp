#include "runner/report/atomic_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <system_error>
#include <utility>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string Cause(int error_number) { return std::generic_category().message(error_number); }

Unexpected CannotWrite(const fs::path& path, const std::string& cause, std::string_view remedy) {
  return InconclusiveError(
      fmt::format("cannot write report {}: {}; {}", path.string(), cause, remedy));
}

constexpr std::string_view kDirectRemedy = "make it writable or name another file";
constexpr std::string_view kRemedy =
    "make its directory writable with room for it, or name another file";

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

// Short whatever the report's own name, which may be as long as names can be.
fs::path TemporaryBeside(const fs::path& target) {
  std::random_device random;
  return target.parent_path() / fmt::format(".leakgate-{:08x}{:08x}.tmp", random(), random());
}

// 0 or the error's number. The file must be new.
int CreateEmpty(const fs::path& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) return errno;
  std::fclose(file);
  return 0;
}

}  // namespace

Expected<AtomicFile> AtomicFile::Create(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) {
    return CannotWrite(path, "it is a directory", "name a file in it");
  }
  AtomicFile file;
  file.path_ = file.target_ = path;
  const bool is_direct = IsWrittenDirectly(path);
  if (!is_direct) {
    const fs::path resolved = fs::weakly_canonical(path, unknown);
    if (!unknown) file.target_ = resolved;
    const fs::path directory = file.target_.parent_path();
    if (!directory.empty() && !fs::is_directory(directory, unknown)) {
      return CannotWrite(path, "its directory does not exist", "create it first");
    }
    const fs::path temporary = TemporaryBeside(file.target_);
    if (const int error = CreateEmpty(temporary); error != 0) {
      return CannotWrite(path, Cause(error), kRemedy);
    }
    file.temporary_ = temporary;
  }
  errno = 0;
  file.out_ = std::make_unique<std::ofstream>(is_direct ? path : file.temporary_,
                                              std::ios::binary | std::ios::app);
  if (*file.out_) return file;
  return CannotWrite(path, Cause(errno), is_direct ? kDirectRemedy : kRemedy);
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty() || !out_) return;  // in its place, or moved from
  out_.reset();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

Expected<void> AtomicFile::Commit() {
  errno = 0;
  out_->close();  // writes what is still buffered
  const bool is_direct = temporary_.empty();
  if (!*out_) {
    const int error = errno == 0 ? EIO : errno;
    return CannotWrite(path_, Cause(error), is_direct ? kDirectRemedy : kRemedy);
  }
  if (is_direct) return {};
  std::error_code failure;
  fs::rename(temporary_, target_, failure);
  if (failure) return CannotWrite(path_, failure.message(), kRemedy);
  temporary_.clear();
  return {};
}

Expected<void> WriteFileAtomically(const fs::path& path, std::string_view text) {
  Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return Unexpected(file.error());
  file->out().write(text.data(), static_cast<std::streamsize>(text.size()));
  return file->Commit();
}

}  // namespace leakgate
