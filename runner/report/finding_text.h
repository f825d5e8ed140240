// One finding as text, and what became of its blocks. At the outer end of each test's call stack
// are the same ten frames, of GoogleTest, main and the C library's start: they become one line. A
// main that calls the user's code itself does not: its line tells findings apart. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runner/report/style.h"
#include "runner/result/finding.h"

namespace leakgate {

// Indices in a stack, as of iterators.
struct FrameRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct OuterFrames {
  std::size_t begin = 0;    // the index of the first of them; the stack's size if there are none
  std::string description;  // "GoogleTest and main", "the C library", ...
};

// Finds the frames at the outer end that are not the user's code. They never include
// the user's own frame, nor, in a stack without one, the innermost frame.
[[nodiscard]] OuterFrames FindOuterFrames(const Finding& finding);

// Returns whether a frame is not the user's code, and so may be left out at the outer end.
[[nodiscard]] bool IsOuterFrame(const Frame& frame);

// Returns whether a repetition added bytes and no block: in blocks alone, that looks like nothing.
[[nodiscard]] bool GrowsInBytesAlone(const Finding& finding);

// Returns the lines of `finding`: its amount, and its call stack with the user's own frame first.
// Each line ends with a newline.
//
//   64 B in 1 block, new
//   > net::Pool::Grow(unsigned long)         src/net/pool.cc:88
//       through std::vector::push_back, std::allocator::allocate
//     net::Client::Connect(net::Url const&)  src/net/client.cc:41
//     HttpTest_KeepAlive_Test::TestBody()    tests/http_test.cc:27
//     ... 12 frames of GoogleTest and main
//
// Frames in `telling` are shown, although they would be folded away.
[[nodiscard]] std::string FindingText(const Finding& finding, const TextStyle& style,
                                      FrameRange telling = {});

// Returns the texts of the first ten of `findings`, and a line that counts the others. `noun` says
// what there are more of: "more finding".
[[nodiscard]] std::string FirstFindingsText(const std::vector<const Finding*>& findings,
                                            std::string_view noun, const TextStyle& style);

// Returns the lines of the frames alone.
[[nodiscard]] std::string StackText(const Finding& finding, const TextStyle& style,
                                    FrameRange telling = {});

// Returns the range of the frames of `finding` in which its stack differs from that of `other`;
// empty if they are the same.
[[nodiscard]] FrameRange FindDifferingFrames(const Finding& finding, const Finding& other);

// Returns "libnet.so+0x1a2b"; an empty text if the module is not known. It is not made printable.
[[nodiscard]] std::string ModuleAndOffset(const Frame& frame);

// Returns `text` with each path below `base_directory` made relative to it.
[[nodiscard]] std::string WithRelativePaths(std::string text, const std::string& base_directory);

// Returns `path`, relative to `base_directory` if it lies below it. It is not made printable.
[[nodiscard]] std::string RelativePath(std::string_view path, const std::string& base_directory);

// Returns "lost", "retained, repeated: +1 +1 +1 +1 +1 blocks", "one-time, repeated: +0 ..".
// It is empty where nothing is known, and not made printable.
[[nodiscard]] std::string FateText(const Finding& finding);

}  // namespace leakgate
