// Writes the HTML report of run reports that are in files, for the tests of the page.
//
//   write_html OUT.html RUN.json... [--baseline RUN.json...]
//
// A file is a run report or a merged one.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "runner/report/formats/html_writer.h"
#include "runner/report/formats/source_excerpts.h"
#include "runner/results/result_file.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    std::fputs("usage: write_html OUT.html RUN.json... [--baseline RUN.json...]\n", stderr);
    return 2;
  }
  std::vector<leakgate::RunResult> runs;
  std::vector<leakgate::RunResult> baseline;
  std::vector<leakgate::RunResult>* into = &runs;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--baseline") {
      into = &baseline;
      continue;
    }
    const auto read = leakgate::ReadResults(
        arguments[i], [&](leakgate::RunResult&& run, const leakgate::RunPlace&) {
          into->push_back(std::move(run));
        });
    if (read) continue;
    std::fprintf(stderr, "%s\n", read.error().message.c_str());
    return 2;
  }
  std::ofstream out(arguments[0], std::ios::binary);
  const leakgate::ReportWriter writer = leakgate::NewHtmlWriter(out, leakgate::ReadSourceFile);
  for (const leakgate::RunResult& run : baseline) writer.add_baseline(run);
  for (const leakgate::RunResult& run : runs) writer.add(run);
  writer.finish();
  return out.flush() ? 0 : 1;
}
