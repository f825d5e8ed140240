// Zip archives as bytes, whole and damaged ones. What writes archives writes no damaged ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate::zip {

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;
inline constexpr std::uint16_t kEncrypted = 1;
inline constexpr std::uint16_t kSizesBehind = 8;  // the file's sizes and checksum stand behind it

struct File {
  std::string name;
  std::string text;
  std::uint16_t method = kDeflated;
  std::uint16_t flags = 0;
  bool is_zip64 = false;                    // its sizes stand where 64 bits have room
  std::optional<std::uint32_t> size{};      // another than the text's
  std::optional<std::uint32_t> checksum{};  // another than the text's
};

struct End {
  std::optional<std::uint16_t> count{};  // another than that of the files
  std::string comment{};
};

inline std::string Number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

inline std::string Deflate(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  std::string from = text;
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// What stands in front of a file's bytes, and what stands for it in the directory, have this in
// common: from the version on to the length of the name.
inline std::string CommonFields(const File& file, std::uint32_t checksum, std::uint64_t packed,
                                std::uint64_t size, std::size_t extra) {
  return Number(20, 2) + Number(file.flags, 2) + Number(file.method, 2) + Number(0, 4) +
         Number(checksum, 4) + Number(packed, 4) + Number(size, 4) + Number(file.name.size(), 2) +
         Number(extra, 2);
}

inline std::string Bytes(const std::vector<File>& files, const End& end = {}) {
  std::string archive;
  std::string directory;
  for (const File& file : files) {
    const std::string packed = file.method == kStored ? file.text : Deflate(file.text);
    const auto* const text = reinterpret_cast<const Bytef*>(file.text.data());
    const auto checksum = file.checksum.value_or(
        static_cast<std::uint32_t>(crc32(0, text, static_cast<uInt>(file.text.size()))));
    const std::uint64_t size = file.size.value_or(static_cast<std::uint32_t>(file.text.size()));
    const std::uint64_t place = archive.size();
    const bool is_behind = (file.flags & kSizesBehind) != 0;
    archive += "PK\3\4" + (is_behind ? CommonFields(file, 0, 0, 0, 0)
                                     : CommonFields(file, checksum, packed.size(), size, 0));
    archive += file.name + packed;
    if (is_behind) {
      archive += "PK\7\10" + Number(checksum, 4) + Number(packed.size(), 4) + Number(size, 4);
    }
    constexpr std::uint32_t kIn64 = 0xffffffff;
    const std::string extra =
        file.is_zip64 ? Number(1, 2) + Number(16, 2) + Number(size, 8) + Number(packed.size(), 8)
                      : "";
    directory += "PK\1\2" + Number(20, 2) +
                 CommonFields(file, checksum, file.is_zip64 ? kIn64 : packed.size(),
                              file.is_zip64 ? kIn64 : size, extra.size()) +
                 Number(0, 10) + Number(place, 4) + file.name + extra;
  }
  const std::uint64_t count = end.count.value_or(static_cast<std::uint16_t>(files.size()));
  return archive + directory + "PK\5\6" + Number(0, 4) + Number(count, 2) + Number(count, 2) +
         Number(directory.size(), 4) + Number(archive.size(), 4) + Number(end.comment.size(), 2) +
         end.comment;
}

}  // namespace leakgate::zip
