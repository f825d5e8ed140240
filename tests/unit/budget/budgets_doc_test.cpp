// Holds docs/budgets.md to its word: its example is a good budget file, and its
// table of errors shows the messages that the parser really gives.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "runner/budget/read_budget.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

struct TableRow {
  std::string text;
  std::string message;
};

std::string ReadDoc() {
  std::ifstream stream(fs::path(LEAKGATE_SOURCE_DIR) / "docs" / "budgets.md");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string FirstJsonBlock(const std::string& doc) {
  const std::string opening = "```json\n";
  const std::size_t begin = doc.find(opening) + opening.size();
  return doc.substr(begin, doc.find("```", begin) - begin);
}

// The rows "| `{...` | `net.leakgate.json:...` |".
std::vector<TableRow> ErrorRows(const std::string& doc) {
  static const std::regex row(R"(\| `(\{[^`]*)` \| `(net\.leakgate\.json:[^`]*)` \|)");
  std::vector<TableRow> rows;
  for (std::sregex_iterator match(doc.begin(), doc.end(), row), end; match != end; ++match) {
    rows.push_back({(*match)[1], (*match)[2]});
  }
  return rows;
}

TEST(BudgetsDocTest, OpensWithAGoodBudgetFile) {
  const Expected<BudgetFile> file = ParseBudgetFile("docs/budgets.md", FirstJsonBlock(ReadDoc()));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->component, "net");
  EXPECT_EQ(file->overrides.size(), 1U);
  EXPECT_EQ(file->allowances.size(), 1U);
}

TEST(BudgetsDocTest, ShowsTheMessagesThatTheParserGives) {
  const std::vector<TableRow> rows = ErrorRows(ReadDoc());
  EXPECT_EQ(rows.size(), 20U);
  for (const TableRow& row : rows) {
    const Expected<BudgetFile> file = ParseBudgetFile("net.leakgate.json", row.text);
    ASSERT_FALSE(file) << row.text;
    EXPECT_EQ(file.error().message, row.message);
  }
}

}  // namespace
}  // namespace leakgate
