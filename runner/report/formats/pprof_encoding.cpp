#include "runner/report/formats/pprof_encoding.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace leakgate {

std::string Gzip(const std::string& text) {
  constexpr int kGzipWindowBits = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  // zlib counts in 32 bits, so the text goes in by parts, and the result comes out so.
  std::string compressed;
  char part[1 << 16];
  std::string input = text;  // zlib's interface is not const
  std::size_t at = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && at < input.size()) {
      const std::size_t length = std::min<std::size_t>(input.size() - at, 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(input.data() + at);
      stream.avail_in = static_cast<uInt>(length);
      at += length;
    }
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof(part);
    status = deflate(&stream, at == input.size() ? Z_FINISH : Z_NO_FLUSH);
    compressed.append(part, sizeof(part) - stream.avail_out);
  }
  deflateEnd(&stream);
  return compressed;
}

}  // namespace leakgate
