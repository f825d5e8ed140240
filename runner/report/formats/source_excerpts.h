// The source lines that the HTML report shows around the user's frames. Pure: who
// calls says how a file is read.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "runner/report/report_writer.h"

namespace leakgate {

enum class SourceRank { kFirst, kThen };  // who gets room first: what fails

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
