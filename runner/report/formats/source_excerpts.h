// Reads source files for a report that quotes them.
//
// Their names come from debug information or from somebody's report, so they may name any
// file of the machine. Only regular files are read that are called like sources: a page is
// passed on, and must not hold what its reader may not see.
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

// The text of `file`, a path as debug information tells it. Nullopt for what is no
// regular file, is not called like a source once links are resolved, cannot be read or is
// too large. Only for reports of the run that this process itself has done.
[[nodiscard]] std::optional<std::string> ReadSourceFile(const std::string& file);

// Reads only files that are below `root` once links and ".." are resolved; relative names
// are of files there. A usage error if it is no directory.
[[nodiscard]] Expected<ReadSource> SourcesBelow(const std::filesystem::path& root);

// The source lines that the HTML report shows around the user's frames. Pure: the
// caller says how a file is read.

enum class SourceRank { kFirst, kThen };  // failing windows get room first

class SourceExcerpts {
 public:
  // Remembers that `line` of `file` is to be shown. Nothing is read yet.
  void Want(const std::string& file, int line, SourceRank rank);

  // Reads each file once. An array of [file, first line's number, line, line, ...]:
  // no line twice, long ones cut, and not more than fits the report.
  [[nodiscard]] nlohmann::ordered_json Read(const ReadSource& read) const;

 private:
  using Places = std::map<std::string, std::set<int>>;

  Places first_;
  Places then_;
};

}  // namespace leakgate
