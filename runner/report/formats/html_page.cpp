#include "runner/report/formats/html_page.h"

#include <cstddef>

// html_template.S defines both.
extern "C" const char leakgate_html_template_begin[];
extern "C" const char leakgate_html_template_end[];

namespace leakgate {

std::string_view HtmlTemplate() {
  const auto size =
      static_cast<std::size_t>(leakgate_html_template_end - leakgate_html_template_begin);
  return {leakgate_html_template_begin, size};
}

std::pair<std::string_view, std::string_view> HtmlTemplateHalves() {
  const std::string_view page = HtmlTemplate();
  const std::size_t mark = page.find(kHtmlReportMark);
  if (mark == std::string_view::npos) return {page, {}};
  return {page.substr(0, mark), page.substr(mark + kHtmlReportMark.size())};
}

}  // namespace leakgate
