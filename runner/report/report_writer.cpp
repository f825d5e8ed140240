#include "runner/report/report_writer.h"

#include "runner/report/formats/html_writer.h"
#include "runner/report/formats/source_file.h"
#include "runner/report/json_writer.h"

namespace leakgate {

ReportWriter NewReportWriter(ReportFormat format, std::ostream& out) {
  switch (format) {
    case ReportFormat::kJson:
      return NewJsonWriter(out);
    case ReportFormat::kHtml:
      return NewHtmlWriter(out, {.read_source = ReadSourceFile, .baseline = {}});
  }
  return NewJsonWriter(out);
}

}  // namespace leakgate
