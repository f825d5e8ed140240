#include "runner/report/formats/html_template.h"

#include <cstddef>

// Of html_template.S.
extern "C" const char leakgate_html_template_begin[];
extern "C" const char leakgate_html_template_end[];

namespace leakgate {

std::string_view HtmlTemplate() {
  const auto size =
      static_cast<std::size_t>(leakgate_html_template_end - leakgate_html_template_begin);
  return {leakgate_html_template_begin, size};
}

}  // namespace leakgate
