#include "runner/attribution/wrappers.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "runner/attribution/stack_pattern.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

constexpr std::string_view kGnu[] = {
    "xmalloc",    "xzalloc",   "xcalloc",   "xrealloc",   "xreallocarray",
    "xnmalloc",   "xnrealloc", "x2malloc",  "x2realloc",  "x2nrealloc",
    "xcharalloc", "xmallocz",  "xmemdup",   "xmemdup0",   "xmemdupz",
    "xstrdup",    "xstrndup",  "xasprintf", "xvasprintf", "ximalloc",
    "xizalloc",   "xicalloc",  "xirealloc", "xinmalloc",  "xireallocarray"};
constexpr std::string_view kGlib[] = {
    "g_malloc",         "g_malloc0",       "g_malloc_n",      "g_malloc0_n",      "g_realloc",
    "g_realloc_n",      "g_try_malloc",    "g_try_malloc0",   "g_try_realloc",    "g_try_malloc_n",
    "g_try_malloc0_n",  "g_try_realloc_n", "g_aligned_alloc", "g_aligned_alloc0", "g_strdup",
    "g_strndup",        "g_strnfill",      "g_memdup",        "g_memdup2",        "g_strdup_printf",
    "g_strdup_vprintf", "g_slice_alloc",   "g_slice_alloc0",  "g_slice_copy"};
constexpr std::string_view kOpenSsl[] = {
    "CRYPTO_malloc",  "CRYPTO_zalloc",   "CRYPTO_realloc", "CRYPTO_clear_realloc",
    "CRYPTO_strdup",  "CRYPTO_strndup",  "CRYPTO_memdup",  "CRYPTO_calloc",
    "OPENSSL_malloc", "OPENSSL_zalloc",  "OPENSSL_calloc", "OPENSSL_realloc",
    "OPENSSL_strdup", "OPENSSL_strndup", "OPENSSL_memdup"};
constexpr std::string_view kSqlite[] = {
    "sqlite3_malloc",       "sqlite3_malloc64",    "sqlite3_realloc",   "sqlite3_realloc64",
    "sqlite3Malloc",        "sqlite3MallocZero",   "sqlite3Realloc",    "sqlite3MemMalloc",
    "sqlite3MemRealloc",    "mallocWithAlarm",     "dbMallocRawFinish", "sqlite3DbMallocRaw",
    "sqlite3DbMallocRawNN", "sqlite3DbMallocZero", "sqlite3DbRealloc",  "sqlite3DbStrDup",
    "sqlite3DbStrNDup"};
constexpr std::string_view kPython[] = {
    "PyMem_Malloc",     "PyMem_Calloc",     "PyMem_Realloc",    "PyMem_RawMalloc",
    "PyMem_RawCalloc",  "PyMem_RawRealloc", "PyObject_Malloc",  "PyObject_Calloc",
    "PyObject_Realloc", "_PyMem_RawMalloc", "_PyMem_RawCalloc", "_PyMem_RawRealloc",
    "_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc"};
constexpr std::string_view kRedis[] = {"zmalloc",
                                       "zcalloc",
                                       "zcalloc_num",
                                       "zrealloc",
                                       "ztrymalloc",
                                       "ztrycalloc",
                                       "ztryrealloc",
                                       "zstrdup",
                                       "zmalloc_usable",
                                       "zcalloc_usable",
                                       "zrealloc_usable",
                                       "ztrymalloc_usable",
                                       "ztrycalloc_usable",
                                       "ztryrealloc_usable",
                                       "ztrymalloc_usable_internal",
                                       "ztrycalloc_usable_internal",
                                       "ztryrealloc_usable_internal"};
constexpr std::string_view kFfmpeg[] = {"av_malloc",        "av_mallocz",  "av_calloc",
                                        "av_malloc_array",  "av_realloc",  "av_realloc_array",
                                        "av_mallocz_array", "av_strdup",   "av_strndup",
                                        "av_memdup",        "av_reallocp", "av_asprintf"};
constexpr std::string_view kSdl[] = {"SDL_malloc",       "SDL_calloc",      "SDL_realloc",
                                     "SDL_strdup",       "SDL_malloc_REAL", "SDL_calloc_REAL",
                                     "SDL_realloc_REAL", "SDL_strdup_REAL"};
constexpr std::string_view kLibuv[] = {"uv__malloc",   "uv__calloc", "uv__realloc",
                                       "uv__reallocf", "uv__strdup", "uv__strndup"};
constexpr std::string_view kLibxml[] = {"xmlStrdup", "xmlStrndup", "xmlCharStrdup",
                                        "xmlCharStrndup", "xmlMemStrdup"};
constexpr std::string_view kJsonnet[] = {"jsonnet_realloc"};
constexpr std::string_view kPostgres[] = {"pg_malloc", "pg_malloc0", "pg_malloc_extended",
                                          "pg_realloc", "pg_strdup"};
constexpr std::string_view kCppLibraries[] = {
    "Eigen::internal::*aligned_malloc*",
    "Eigen::internal::*aligned_realloc*",
    "absl::*container_internal::Allocate<*",
    "boost::container::new_allocator<*>::allocate",
    "boost::alignment::aligned_alloc",
    "folly::checkedMalloc",
    "folly::checkedCalloc",
    "folly::checkedRealloc",
    "rapidjson::CrtAllocator::Malloc",
    "rapidjson::CrtAllocator::Realloc",
};

// leakgate/pool.h: the functions that tell of a pool's blocks.
constexpr std::array<std::string_view, 2> kPools = {"leakgate_pool_*", "leakgate::Pool::*"};

constexpr std::array kAll = {
    KnownWrappers{"leakgate", kPools},
    KnownWrappers{"GNU programs and gnulib", kGnu},
    KnownWrappers{"GLib", kGlib},
    KnownWrappers{"OpenSSL and BoringSSL", kOpenSsl},
    KnownWrappers{"SQLite", kSqlite},
    KnownWrappers{"CPython", kPython},
    KnownWrappers{"Redis and Valkey", kRedis},
    KnownWrappers{"FFmpeg", kFfmpeg},
    KnownWrappers{"SDL", kSdl},
    KnownWrappers{"libuv", kLibuv},
    KnownWrappers{"libxml2", kLibxml},
    KnownWrappers{"Jsonnet", kJsonnet},
    KnownWrappers{"PostgreSQL's client programs", kPostgres},
    KnownWrappers{"Eigen, Abseil, Boost, Folly, RapidJSON", kCppLibraries},
};

}  // namespace

std::span<const KnownWrappers> ListKnownWrappers() { return kAll; }

bool TellsOfPool(const Frame& frame) {
  const std::string function = NamedFrame(frame).function;
  return std::any_of(kPools.begin(), kPools.end(),
                     [&](std::string_view glob) { return MatchesGlob(glob, function); });
}

WrapperPatterns::WrapperPatterns(std::vector<std::string> declared)
    : declared_(std::move(declared)) {
  for (const KnownWrappers& wrappers : kAll) {
    for (const std::string_view pattern : wrappers.patterns) {
      if (pattern.find('*') == std::string_view::npos) {
        known_names_.insert(pattern);
      } else {
        known_globs_.push_back(pattern);
      }
    }
  }
}

bool WrapperPatterns::IsKnown(const std::string& function) {
  return known_names_.contains(function) ||
         std::any_of(known_globs_.begin(), known_globs_.end(),
                     [&](std::string_view glob) { return MatchesGlob(glob, function); });
}

Wrapper WrapperPatterns::Find(const Frame& frame) {
  const bool is_declared =
      std::any_of(declared_.begin(), declared_.end(),
                  [&](const std::string& pattern) { return MatchesStack({pattern}, {frame}); });
  if (is_declared) return Wrapper::kDeclared;
  if (frame.function.empty()) return Wrapper::kNo;
  const auto [known, is_new] = is_known_.try_emplace(frame.function);
  if (is_new) known->second = IsKnown(NamedFrame(frame).function);
  return known->second ? Wrapper::kKnown : frame.wrapper;
}

std::function<Wrapper(const Frame&)> FindWrappersBy(std::vector<std::string> declared) {
  const auto patterns = std::make_shared<WrapperPatterns>(std::move(declared));
  return [patterns](const Frame& frame) { return patterns->Find(frame); };
}

std::vector<std::string> DeclaredWrappers(const std::vector<const BudgetFile*>& files) {
  std::vector<std::string> wrappers;
  for (const BudgetFile* const file : files) {
    wrappers.insert(wrappers.end(), file->wrappers.begin(), file->wrappers.end());
  }
  return wrappers;
}

}  // namespace leakgate
