#include "runner/process/image_inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "runner/base/nt/win32.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

// The bytes of a file, which nobody has checked.
class FileView {
 public:
  explicit FileView(const UniqueFd& file)
      : section_(
            OwnHandle(CreateFileMappingW(HandleOf(file), nullptr, PAGE_READONLY, 0, 0, nullptr))) {
    LARGE_INTEGER bytes{};
    if (!section_ || !GetFileSizeEx(HandleOf(file), &bytes)) return;
    begin_ = MapViewOfFile(HandleOf(section_), FILE_MAP_READ, 0, 0, 0);
    if (begin_ != nullptr) bytes_ = static_cast<std::size_t>(bytes.QuadPart);
  }
  ~FileView() {
    if (begin_ != nullptr) UnmapViewOfFile(begin_);
  }
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(begin_), bytes_}; }

 private:
  const UniqueFd section_;
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

// What is read of a PE file: its header, its sections, and the libraries that it imports.
class PeFile {
 public:
  explicit PeFile(std::string_view bytes) : bytes_(bytes) {
    const auto dos = ReadAt<IMAGE_DOS_HEADER>(0);
    if (!dos || dos->e_magic != IMAGE_DOS_SIGNATURE || dos->e_lfanew < 0) return;
    const auto at = static_cast<std::uint64_t>(dos->e_lfanew);
    const auto signature = ReadAt<DWORD>(at);
    const auto file = ReadAt<IMAGE_FILE_HEADER>(at + sizeof(DWORD));
    if (!signature || *signature != IMAGE_NT_SIGNATURE || !file) return;
    header_ = *file;
    is_pe_ = true;
    const std::uint64_t optional_at = at + sizeof(DWORD) + sizeof(IMAGE_FILE_HEADER);
    const auto optional = ReadAt<IMAGE_OPTIONAL_HEADER64>(optional_at);
    if (optional && optional->Magic == IMAGE_NT_OPTIONAL_HDR64_MAGIC) optional_ = *optional;
    for (std::uint64_t i = 0; i < header_.NumberOfSections; ++i) {
      const auto section = ReadAt<IMAGE_SECTION_HEADER>(optional_at + header_.SizeOfOptionalHeader +
                                                        i * sizeof(IMAGE_SECTION_HEADER));
      if (section) sections_.push_back(*section);
    }
    ReadImports();
  }

  bool is_pe() const { return is_pe_; }
  WORD machine() const { return header_.Machine; }
  bool is_program() const {
    return (header_.Characteristics & IMAGE_FILE_EXECUTABLE_IMAGE) != 0 &&
           (header_.Characteristics & IMAGE_FILE_DLL) == 0;
  }
  // Names in lower case.
  const std::vector<std::string>& imports() const { return imports_; }
  // A .NET program has a header that makes the runtime start it.
  bool is_managed() const {
    return optional_ &&
           optional_->DataDirectory[IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR].VirtualAddress != 0;
  }

  // Machine code and debug information are not read.
  bool HasConstant(std::string_view text) const {
    return std::any_of(
        sections_.begin(), sections_.end(), [&](const IMAGE_SECTION_HEADER& section) {
          constexpr DWORD kOthers = IMAGE_SCN_MEM_EXECUTE | IMAGE_SCN_MEM_DISCARDABLE;
          if ((section.Characteristics & kOthers) != 0 ||
              section.PointerToRawData > bytes_.size()) {
            return false;
          }
          return bytes_.substr(section.PointerToRawData, section.SizeOfRawData).find(text) !=
                 std::string_view::npos;
        });
  }

 private:
  template <typename T>
  std::optional<T> ReadAt(std::uint64_t at) const {
    if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(value));
    return value;
  }

  std::optional<std::uint64_t> PlaceOf(DWORD address) const {
    for (const IMAGE_SECTION_HEADER& section : sections_) {
      if (address >= section.VirtualAddress &&
          address - section.VirtualAddress < section.SizeOfRawData) {
        return std::uint64_t{section.PointerToRawData} + (address - section.VirtualAddress);
      }
    }
    return std::nullopt;
  }

  std::string TextAt(DWORD address) const {
    const std::optional<std::uint64_t> at = PlaceOf(address);
    if (!at || *at >= bytes_.size()) return "";
    std::string text(bytes_.substr(*at, std::min<std::size_t>(MAX_PATH, bytes_.size() - *at)));
    text.resize(std::min(text.find('\0'), text.size()));
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  }

  void ReadImports() {
    constexpr std::uint64_t kMostImports = 4096;
    if (!optional_ || optional_->NumberOfRvaAndSizes <= IMAGE_DIRECTORY_ENTRY_IMPORT) return;
    const auto at = PlaceOf(optional_->DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress);
    for (std::uint64_t i = 0; at && i < kMostImports; ++i) {
      const auto import =
          ReadAt<IMAGE_IMPORT_DESCRIPTOR>(*at + i * sizeof(IMAGE_IMPORT_DESCRIPTOR));
      if (!import || import->Name == 0) return;
      imports_.push_back(TextAt(import->Name));
    }
  }

  std::string_view bytes_;
  bool is_pe_ = false;
  IMAGE_FILE_HEADER header_{};
  std::optional<IMAGE_OPTIONAL_HEADER64> optional_;
  std::vector<IMAGE_SECTION_HEADER> sections_;
  std::vector<std::string> imports_;
};

std::string NameOfMachine(WORD machine) {
  switch (machine) {
    case IMAGE_FILE_MACHINE_I386:
      return "32-bit x86";
    case IMAGE_FILE_MACHINE_ARM64:
      return "ARM64";
    case IMAGE_FILE_MACHINE_ARMNT:
      return "32-bit ARM";
    default:
      return fmt::format("another processor (machine 0x{:x})", machine);
  }
}

bool Imports(const PeFile& file, std::string_view beginning) {
  return std::any_of(file.imports().begin(), file.imports().end(), [&](std::string_view name) {
    return name.starts_with(beginning) ||
           (beginning.starts_with("lib") && name.starts_with(beginning.substr(3)));
  });
}

std::optional<std::string> Refuse(const PeFile& file) {
  if (!file.is_pe() || !file.is_program()) return "it is not a program for Windows";
  if (file.machine() != IMAGE_FILE_MACHINE_AMD64) {
    return fmt::format(
        "it is built for {}, and this leakgate's agent for x86-64; build the tests "
        "for x86-64",
        NameOfMachine(file.machine()));
  }
  if (file.is_managed()) {
    return "it is a .NET program, whose memory the runtime manages; gate a native test binary";
  }
  if (Imports(file, "clang_rt.asan") || file.HasConstant("__asan_init")) {
    return "it is built with AddressSanitizer, which replaces malloc itself; gate a build without "
           "-fsanitize=address";
  }
  return std::nullopt;
}

}  // namespace

Expected<ImageInspection> InspectImage(const std::filesystem::path& image) {
  const auto opened = OpenRegularFile(image);
  if (!opened) {
    return InconclusiveError(
        fmt::format("{}: cannot be read, so it is not known whether it can "
                    "be traced: {}; make it readable",
                    Utf8Of(image.native()), opened.error().message()));
  }
  const FileView view(*opened);
  const PeFile file(view.bytes());
  ImageInspection inspection;
  inspection.refusal = inspection.refusal_of_running = Refuse(file);
  inspection.is_of_other_processor = file.is_pe() && file.machine() != IMAGE_FILE_MACHINE_AMD64;
  if (!file.is_pe()) return inspection;
  inspection.linked =
      FindFramework({.has_constant = [&](std::string_view text) { return file.HasConstant(text); },
                     .needs_library = [&](std::string_view name) { return Imports(file, name); }});
  inspection.linked.has_stream = false;
  return inspection;
}

bool IsDynamicLinker(const std::filesystem::path&) { return false; }

}  // namespace leakgate
