// The report that an HTML page holds, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace leakgate::test {

// REQUIRES: `html` is a page of leakgate's.
inline nlohmann::json ReportInPage(const std::string& html) {
  const std::string begin = R"(<script type="application/json" id="report">)";
  const std::size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script", from) - from));
}

}  // namespace leakgate::test
