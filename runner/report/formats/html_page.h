// The page that all HTML is written into: that of a run's report, of a snapshot, and of the
// difference between two.
//
// report-ui/ builds html_template.html, which is a part of the runner as bytes (html_template.S).
// What the page shows is JSON in it, as ScriptJson writes it (page_tables.h): by its members the
// page tells what it is of. Pure.
#pragma once

#include <string_view>
#include <utility>

namespace leakgate {

// Returns the page with nothing in it.
[[nodiscard]] std::string_view HtmlTemplate();

// Stands in the template, once, where the JSON goes.
constexpr std::string_view kHtmlReportMark = "@LEAKGATE_REPORT@";

// Returns the parts of the template before and behind the JSON.
[[nodiscard]] std::pair<std::string_view, std::string_view> HtmlTemplateHalves();

}  // namespace leakgate
