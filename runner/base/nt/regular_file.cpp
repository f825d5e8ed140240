#include "runner/base/regular_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <streambuf>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

enum UnfitFile { kTooLarge = 1, kNotAccepted, kFolder, kDevice, kPipe, kLink };

class UnfitFileCategory : public std::error_category {
 public:
  const char* name() const noexcept override { return "unfit file"; }
  std::string message(int value) const override {
    switch (value) {
      case kTooLarge:
        return "it is too large for what it should be";
      case kNotAccepted:
        return "its name is not one of those to be read";
      case kFolder:
        return "it is a directory, not a regular file";
      case kPipe:
        return "it is a pipe, not a regular file";
      case kLink:
        return "it is a link, not a regular file";
      default:
        return "it is a device, not a regular file";
    }
  }
};

tl::unexpected<std::error_code> Unfit(UnfitFile value) {
  static const UnfitFileCategory category;
  return tl::unexpected(std::error_code(value, category));
}

tl::unexpected<std::error_code> LastError() { return tl::unexpected(LastWindowsError()); }

// CreateFile on a pipe would connect to it, and on a device it might act: these are told by their
// names.
std::optional<UnfitFile> KindOfName(const std::wstring& path) {
  std::wstring name = path;
  std::replace(name.begin(), name.end(), L'/', L'\\');
  std::transform(name.begin(), name.end(), name.begin(), [](wchar_t unit) {
    return unit >= L'A' && unit <= L'Z' ? static_cast<wchar_t>(unit - L'A' + L'a') : unit;
  });
  if (name.starts_with(L"\\\\") && name.find(L"\\pipe\\") != std::wstring::npos) return kPipe;
  if (name.starts_with(L"\\\\.\\")) return kDevice;
  return std::nullopt;
}

tl::expected<UniqueFd, std::error_code> Open(const std::wstring& path, DWORD flags) {
  if (const std::optional<UnfitFile> kind = KindOfName(path)) return Unfit(*kind);
  UniqueFd file = OwnHandle(CreateFileW(path.c_str(), GENERIC_READ,
                                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                        nullptr, OPEN_EXISTING, flags, nullptr));
  if (!file) {
    const std::error_code error = LastWindowsError();
    const DWORD attributes = GetFileAttributesW(path.c_str());
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
      return Unfit(kFolder);
    }
    return tl::unexpected(error);
  }
  const DWORD type = GetFileType(HandleOf(file));
  if (type == FILE_TYPE_PIPE) return Unfit(kPipe);
  if (type != FILE_TYPE_DISK) return Unfit(kDevice);
  BY_HANDLE_FILE_INFORMATION facts{};
  if (!GetFileInformationByHandle(HandleOf(file), &facts)) return LastError();
  if ((facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return Unfit(kFolder);
  if ((facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
      (flags & FILE_FLAG_OPEN_REPARSE_POINT) != 0) {
    return Unfit(kLink);
  }
  return file;
}

class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(UniqueFd file) : file_(std::move(file)), bytes_(kBytes) {}

 protected:
  int_type underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    DWORD count = 0;
    // std::istream catches the exception, and sets its bad bit.
    if (!ReadFile(HandleOf(file_), bytes_.data(), kBytes, &count, nullptr)) {
      throw std::ios_base::failure("read", LastWindowsError());
    }
    if (count == 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  static constexpr DWORD kBytes = 1 << 16;

  const UniqueFd file_;
  std::vector<char> bytes_;
};

class FileStream : private FileBuffer, public std::istream {
 public:
  explicit FileStream(UniqueFd file)
      : FileBuffer(std::move(file)), std::istream(static_cast<FileBuffer*>(this)) {}
};

}  // namespace

tl::expected<UniqueFd, std::error_code> OpenRegularFile(const std::filesystem::path& path) {
  return OpenRegularFileIf(path, {});
}

tl::expected<UniqueFd, std::error_code> OpenRegularFileIf(const std::filesystem::path& path,
                                                          const AcceptsName& accepts) {
  auto file = Open(path.native(), FILE_ATTRIBUTE_NORMAL);
  if (!file || !accepts) return file;
  const std::wstring name = PathOfHandle(HandleOf(*file));
  if (name.empty()) return LastError();
  if (!accepts(Utf8Of(name))) return Unfit(kNotAccepted);
  return file;
}

tl::expected<UniqueFd, std::error_code> OpenRegularFileIn(const UniqueFd& directory,
                                                          const std::string& name) {
  const std::wstring folder = PathOfHandle(HandleOf(directory));
  if (folder.empty()) return LastError();
  return Open(folder + L'\\' + WideOf(name), FILE_FLAG_OPEN_REPARSE_POINT);
}

tl::expected<std::string, std::error_code> ReadToEnd(const UniqueFd& file,
                                                     std::uint64_t most_bytes) {
  std::string text;
  char part[1 << 14];
  for (;;) {
    DWORD count = 0;
    if (!ReadFile(HandleOf(file), part, sizeof(part), &count, nullptr)) return LastError();
    if (count == 0) return text;
    text.append(part, count);
    if (text.size() > most_bytes) return Unfit(kTooLarge);
  }
}

tl::expected<std::string, std::error_code> ReadRegularFile(const std::filesystem::path& path,
                                                           std::uint64_t most_bytes) {
  const auto file = OpenRegularFile(path);
  if (!file) return tl::unexpected(file.error());
  return ReadToEnd(*file, most_bytes);
}

std::unique_ptr<std::istream> MakeInputStream(UniqueFd file) {
  return std::make_unique<FileStream>(std::move(file));
}

bool IsRegularOrMissing(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

// The runner has the rights of whoever started it, as the program has.
FileRights::FileRights(unsigned, unsigned) : differ_(false) {}
FileRights::~FileRights() = default;

}  // namespace leakgate
