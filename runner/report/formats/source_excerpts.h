// Reads source files for a report that quotes them.
//
// Their names come from debug information or from a report of others, so they may be those of any
// file of the machine. A page is passed on, and must not show what its reader may not see: so only
// regular files with a source's name are read.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "runner/base/expected.h"
#include "runner/report/report_format.h"

namespace leakgate {

// Returns the text of `file`, a path in debug information. Returns nullopt if it is no regular
// file, has no source's name once links are resolved, cannot be read or is too large. Use it only
// for reports of a run of this process.
[[nodiscard]] std::optional<std::string> ReadSourceFile(const std::string& file);

// Returns a function that reads only files below `root`, once links and ".." are resolved. Relative
// names are relative to it. Returns a usage error if `root` is no directory.
[[nodiscard]] Expected<ReadSource> SourcesBelow(const std::filesystem::path& root);

enum class SourceRank { kFirst, kThen };  // failing windows get room first

// The source lines that the HTML report shows around the user's frames. It is pure: the caller says
// how a file is read.
class SourceExcerpts {
 public:
  // Remembers that `line` of `file` is to be shown. Nothing is read yet.
  void Want(const std::string& file, int line, SourceRank rank);

  // Reads each file once. Returns an array of [file, first line's number, line, line, ...]. No line
  // is in it twice, long ones are cut, and there are no more than fit into the report.
  [[nodiscard]] nlohmann::ordered_json Read(const ReadSource& read) const;

 private:
  using Places = std::map<std::string, std::set<int>>;

  Places first_;
  Places then_;
};

}  // namespace leakgate
