// The page of the HTML report, without a report in it: html_template.html, which
// report-ui/ builds, as a part of the runner (html_template.S).
#pragma once

#include <string_view>

namespace leakgate {

[[nodiscard]] std::string_view HtmlTemplate();

// What stands in the template where the report's JSON goes, once.
constexpr std::string_view kHtmlReportMark = "@LEAKGATE_REPORT@";

}  // namespace leakgate
