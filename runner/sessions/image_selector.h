// Which programs a session traces by name: `--image NAME[:SELECTOR]`. Pure.
//
//   redis-server          every process of that image
//   python3:server.py     where an argument is server.py, or ends in /server.py
//   /opt/app/bin/*        by the whole path, once there is a slash
//   *                     every program
//
// SELECTOR tells programs apart that one program hosts: an interpreter, an emulator.
#pragma once

#include <string>
#include <string_view>

#include "runner/base/expected.h"
#include "runner/process/process_image.h"

namespace leakgate {

// Both are globs of '*' and '?'.
struct ImageSelector {
  std::string image;
  std::string argument;  // empty: any

  bool operator==(const ImageSelector&) const = default;
};

// A usage error says what is wrong with `text`.
[[nodiscard]] Expected<ImageSelector> ParseImageSelector(std::string_view text);

// As it was written.
[[nodiscard]] std::string TextOf(const ImageSelector& selector);

// The image's name is the file's, or that by which it was executed: python3 is a link.
[[nodiscard]] bool Selects(const ImageSelector& selector, const ExecutedProgram& program);

}  // namespace leakgate
