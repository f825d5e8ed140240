#include "runner/report/report_writer.h"

#include "runner/report/json_writer.h"

namespace leakgate {

ReportWriter NewReportWriter(ReportFormat format, std::ostream& out) {
  switch (format) {
    case ReportFormat::kJson:
      return NewJsonWriter(out);
  }
  return NewJsonWriter(out);
}

}  // namespace leakgate
