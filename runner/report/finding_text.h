// The outer end of a call stack: what called the user's code. A test's stack
// ends in ten frames of GoogleTest, main and the C library's start, the same
// for every test; reports say so in one line. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runner/report/style.h"
#include "runner/result/finding.h"

namespace leakgate {

struct OuterFrames {
  std::size_t begin = 0;    // the index of the first of them; the stack's size if there are none
  std::string description;  // "GoogleTest and main", "the C library", ...
};

// The frames at the outer end that are no code of the user's. Never reaches
// the user's own frame; of a stack without one the innermost frame is kept.
[[nodiscard]] OuterFrames FindOuterFrames(const Finding& finding);

// Whether a frame is no code of the user's, and may be left out at the outer end.
[[nodiscard]] bool IsOuterFrame(const Frame& frame);

// One finding as text: its amount, and its call stack with the user's own
// frame first.
//
//   64 B in 1 block · new
//   > net::Pool::Grow(unsigned long)         src/net/pool.cc:88
//       through std::vector::push_back, std::allocator::allocate
//     net::Client::Connect(net::Url const&)  src/net/client.cc:41
//     HttpTest_KeepAlive_Test::TestBody()    tests/http_test.cc:27
//     ... 12 frames of GoogleTest and main

// The frames alone, as above.
[[nodiscard]] std::string StackText(const Finding& finding, const TextStyle& style);

// The lines of `finding`, each with a trailing newline.
[[nodiscard]] std::string FindingText(const Finding& finding, const TextStyle& style);

// `text` with the paths below `base_directory` that stand in it from there.
[[nodiscard]] std::string WithRelativePaths(std::string text, const std::string& base_directory);

// `path`, from `base_directory` if it lies below it. Not made printable.
[[nodiscard]] std::string RelativePath(std::string_view path, const std::string& base_directory);

}  // namespace leakgate
