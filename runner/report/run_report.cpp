#include "runner/report/run_report.h"

#include "runner/report/read_run_report.h"

namespace leakgate {

const RunResult& RunReport::result() const {
  if (!result_) result_ = ReadRunReport(*json_);
  return *result_;
}

}  // namespace leakgate
