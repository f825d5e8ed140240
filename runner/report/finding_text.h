// One finding as text: its amount, and its call stack with the user's own
// frame first.
//
//   64 B in 1 block · new
//   > net::Pool::Grow(unsigned long)         src/net/pool.cc:88
//       through std::vector::push_back, std::allocator::allocate
//     net::Client::Connect(net::Url const&)  src/net/client.cc:41
//     HttpTest_KeepAlive_Test::TestBody()    tests/http_test.cc:27
//     ... 12 frames of GoogleTest and main
#pragma once

#include <string>
#include <string_view>

#include "runner/attribution/finding.h"
#include "runner/report/style.h"

namespace leakgate {

// The frames alone, as above.
[[nodiscard]] std::string StackText(const Finding& finding, const TextStyle& style);

// The lines of `finding`, each with a trailing newline.
[[nodiscard]] std::string FindingText(const Finding& finding, const TextStyle& style);

// `text` with the paths below `base_directory` that stand in it from there.
[[nodiscard]] std::string WithRelativePaths(std::string text, const std::string& base_directory);

// `path`, from `base_directory` if it lies below it. Not made printable.
[[nodiscard]] std::string RelativePath(std::string_view path, const std::string& base_directory);

}  // namespace leakgate
