// Puts snapshots into a bundle, each with what the manifest tells of it. `leakgate snapshot bundle`
// does so with files, and with snapshots that it takes of a session's processes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

enum class BundledSymbols { kLeftOut, kIncluded };

class BundleMaker {
 public:
  using NewSymbolizer = std::function<Expected<Symbolizer>()>;

  // `new_symbolizer` makes what finds functions and lines; each snapshot gets its own.
  [[nodiscard]] static Expected<BundleMaker> Create(BundledSymbols symbols,
                                                    NewSymbolizer new_symbolizer);
  ~BundleMaker();
  BundleMaker(BundleMaker&&) noexcept;
  BundleMaker& operator=(BundleMaker&&) noexcept;

  // Adds snapshot files, and those of directories. Returns a usage error if one cannot be read, or
  // a directory has none.
  [[nodiscard]] Expected<void> AddFiles(const std::vector<std::filesystem::path>& given);
  // Adds a snapshot that has no file, under this name or one like it that is free.
  [[nodiscard]] Expected<void> Add(const std::string& wanted_name, std::string bytes);

  // Writes the bundle, and returns how many snapshots it has. Returns a usage error if that is
  // none. `session` is what is known of the session that they are from; null: none was named.
  [[nodiscard]] Expected<std::size_t> Finish(const std::filesystem::path& path,
                                             nlohmann::ordered_json session);

 private:
  struct Content {
    std::string origin;  // for messages
    std::string name;    // in the bundle
    std::string bytes;
  };

  BundleMaker(BundledSymbols symbols, NewSymbolizer new_symbolizer, BundleWriter bundle);
  [[nodiscard]] std::string TakeName(const std::string& wanted);
  [[nodiscard]] Expected<void> Add(Content content);

  BundledSymbols symbols_;
  NewSymbolizer new_symbolizer_;
  BundleWriter bundle_;
  std::set<std::string> names_{};                      // that the bundle has
  std::unique_ptr<nlohmann::ordered_json> snapshots_;  // of the manifest
};

}  // namespace leakgate
