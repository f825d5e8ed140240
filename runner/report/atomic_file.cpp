#include "runner/report/atomic_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <streambuf>
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

}  // namespace

class AtomicFile::Buffer : public std::streambuf {
 public:
  Buffer(const fs::path& path, const char* mode) : file_(std::fopen(path.c_str(), mode)) {
    if (file_ == nullptr) error_ = errno;
  }
  ~Buffer() override { Close(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // 0, or the number of the first error.
  [[nodiscard]] int error() const { return error_; }

  // Writes what is still buffered.
  void Close() {
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) Fail();
  }

 protected:
  int_type overflow(int_type byte) override {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char one = traits_type::to_char_type(byte);
    return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (file_ == nullptr || error_ != 0) return 0;
    errno = 0;
    const std::size_t written = std::fwrite(bytes, 1, static_cast<std::size_t>(count), file_);
    if (written != static_cast<std::size_t>(count)) Fail();
    return static_cast<std::streamsize>(written);
  }

 private:
  void Fail() {
    if (error_ == 0) error_ = errno == 0 ? EIO : errno;
  }

  std::FILE* file_;
  int error_ = 0;
};

AtomicFile::AtomicFile() = default;
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;

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
    file.temporary_ = TemporaryBeside(file.target_);
  }
  if (Expected<void> opened = file.Open(is_direct ? "ab" : "wbx"); !opened) {
    return Unexpected(opened.error());
  }
  return file;
}

Expected<AtomicFile> AtomicFile::Append(const fs::path& path) {
  AtomicFile file;
  file.path_ = file.target_ = path;
  if (Expected<void> opened = file.Open("ab"); !opened) return Unexpected(opened.error());
  return file;
}

Expected<void> AtomicFile::Open(const char* mode) {
  const bool is_direct = temporary_.empty();
  buffer_ = std::make_unique<Buffer>(is_direct ? path_ : temporary_, mode);
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(path_, Cause(error), is_direct ? kDirectRemedy : kRemedy);
  }
  out_ = std::make_unique<std::ostream>(buffer_.get());
  return {};
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty() || !out_) return;  // in its place, or moved from
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

Expected<void> AtomicFile::Commit() {
  buffer_->Close();
  const bool is_direct = temporary_.empty();
  if (const int error = buffer_->error(); error != 0) {
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
