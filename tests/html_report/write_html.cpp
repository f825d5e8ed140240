// Writes the HTML report of run reports that are in files, for the tests of the page.
//
//   write_html OUT.html RUN.json... [--baseline RUN.json...]
//
// A file is a run report or a merged one.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runner/report/formats/html_writer.h"
#include "runner/report/formats/source_file.h"

namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> ReadRuns(const std::string& path) {
  std::ifstream stream(path);
  Json json = Json::parse(stream);
  if (!json.contains("runs")) return {std::move(json)};
  return json["runs"].get<std::vector<Json>>();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    std::fputs("usage: write_html OUT.html RUN.json... [--baseline RUN.json...]\n", stderr);
    return 2;
  }
  std::vector<Json> runs;
  std::vector<Json> baseline;
  std::vector<Json>* into = &runs;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--baseline") {
      into = &baseline;
      continue;
    }
    for (Json& run : ReadRuns(arguments[i])) into->push_back(std::move(run));
  }
  std::ofstream out(arguments[0], std::ios::binary);
  const leakgate::ReportWriter writer = leakgate::NewHtmlWriter(out, leakgate::ReadSourceFile);
  for (const Json& run : baseline) writer.add_baseline(run);
  for (Json& run : runs) writer.add(leakgate::RunReport(std::move(run)));
  writer.finish();
  return out.flush() ? 0 : 1;
}
