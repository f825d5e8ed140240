// The JSON report of one run as it is, of several as one merged report: an object
// with their `runs`. What is not UTF-8 in a name or a path comes out as U+FFFD.
#pragma once

#include <string_view>

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewJsonWriter(std::ostream& out);

// The same from texts of run reports, which are copied as they are: a merge of
// gigabytes need not take them apart.
class JsonTextWriter {
 public:
  // `runs`: how many there will be. `out` outlives it.
  JsonTextWriter(std::ostream& out, std::size_t runs);

  void BeginRun();
  void Write(std::string_view piece);  // of the run's text
  void Finish();

 private:
  std::ostream& out_;
  const bool is_merged_;
  bool is_first_ = true;
};

}  // namespace leakgate
