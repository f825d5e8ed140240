"""The real suites that leakgate is held to: nobody here wrote them.

Fetched, built and gated below build/real of the checkout, or below LEAKGATE_REAL_ROOT; the machine's own
sources of packages are left alone.
"""
import dataclasses
import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("LEAKGATE_REAL_ROOT") or HERE.parent.parent / "build" / "real").resolve()


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    package: str  # the Debian source package; empty: GoogleTest's own, in /usr/src/googletest
    options: tuple[str, ...]  # of its CMake
    binaries: tuple[str, ...]
    tests: int  # all of them run, or the gate fails
    runs_in_source: bool = False  # its tests open files of the source tree
    needs_order: bool = False  # its tests open files that earlier ones of the same binary left
    planted: str = ""  # the binary whose source SUITE_planted.patch changes
    prepare: tuple[str, ...] = ()  # a command to run once in the fetched source
    subdirectory: str = ""  # of the source, where the CMakeLists.txt to build is
    arguments: tuple[str, ...] = ()  # of each of its binaries
    ends_badly: tuple[str, ...] = ()  # binaries whose own main aborts or fails after the tests, gated or not
    fails_alone: tuple[str, ...] = ()  # binaries of which some tests fail or abort when run alone, gated or not
    not_alone: tuple[str, ...] = ()  # binaries whose tests cannot be run one by one at all

    @property
    def source(self) -> pathlib.Path:
        unpacked = ROOT / "source" / self.name if self.package else pathlib.Path("/usr/src/googletest")
        return unpacked / self.subdirectory

    @property
    def build(self) -> pathlib.Path:
        return ROOT / "build" / self.name

    def command(self, binary: str, mode: str = "untouched") -> list[str]:
        """How `binary` is started; in another mode its variant of that name."""
        suffix = "" if mode == "untouched" else f"_{mode}"
        return [str(self.build / (binary + suffix)), *self.arguments]

    def working_folder(self, scratch: str) -> pathlib.Path:
        return self.source if self.runs_in_source else pathlib.Path(scratch)


SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            name="leveldb",
            package="leveldb",
            options=("-DLEVELDB_BUILD_BENCHMARKS=OFF", "-DHAVE_TCMALLOC=0", "-DHAVE_SNAPPY=0",
                     "-DHAVE_CRC32C=0"),
            # Not those that time themselves or take minutes: autocompact_test, db_test, issue320_test.
            binaries=("arena_test", "bloom_test", "cache_test", "coding_test", "corruption_test",
                      "crc32c_test", "dbformat_test", "env_posix_test", "env_test",
                      "fault_injection_test", "filename_test", "filter_block_test", "hash_test",
                      "issue178_test", "issue200_test", "log_test", "logging_test", "memenv_test",
                      "no_destructor_test", "recovery_test", "skiplist_test", "status_test",
                      "table_test", "version_edit_test", "version_set_test", "write_batch_test"),
            tests=168,
            planted="cache_test",
        ),
        Suite(
            name="snappy",
            package="snappy",
            options=("-DSNAPPY_BUILD_BENCHMARKS=OFF", "-DBUILD_SHARED_LIBS=ON"),
            binaries=("snappy_unittest",),
            tests=20,
            runs_in_source=True,
        ),
        Suite(
            name="samples",
            package="",
            subdirectory="googletest",
            options=("-Dgtest_build_samples=ON",),
            binaries=tuple(f"sample{number}_unittest" for number in range(1, 11)),
            tests=53,
        ),
        Suite(
            name="fmtlib",
            package="fmtlib",
            options=("-DFMT_DOC=OFF", "-DFMT_TEST=ON"),
            # Not those that take minutes each to compile.
            binaries=("args-test", "assert-test", "color-test", "gtest-extra-test", "os-test", "ostream-test",
                      "scan-test", "std-test", "unicode-test"),
            tests=120,
            needs_order=True,
        ),
        Suite(
            name="yaml-cpp",
            package="yaml-cpp",
            options=("-DYAML_CPP_BUILD_TOOLS=OFF", "-DYAML_BUILD_SHARED_LIBS=OFF", "-DYAML_CPP_BUILD_TESTS=ON"),
            binaries=("yaml-cpp-tests",),
            tests=980,
        ),
        Suite(
            name="glog",
            package="google-glog",
            options=("-DWITH_GFLAGS=OFF", "-DWITH_UNWIND=OFF"),
            binaries=("demangle_unittest", "logging_unittest", "mock-log_unittest", "symbolize_unittest",
                      "utilities_unittest"),
            tests=25,
            # Its main checks that RUN_ALL_TESTS() is 0, and has expectations after it, of which one fails.
            ends_badly=("logging_unittest", "utilities_unittest"),
        ),
        Suite(
            name="benchmark",
            package="benchmark",
            options=("-DBENCHMARK_USE_BUNDLED_GTEST=OFF", "-DBENCHMARK_ENABLE_WERROR=OFF",
                     "-DGIT_VERSION=1.7.1"),
            binaries=("benchmark_gtest", "benchmark_name_gtest", "benchmark_random_interleaving_gtest",
                      "commandlineflags_gtest", "perf_counters_gtest", "statistics_gtest", "string_util_gtest",
                      "time_unit_gtest"),
            tests=67,
        ),
        Suite(
            name="re2",
            package="re2",
            options=(f"-DLEAKGATE_HARNESS={HERE / 're2'}",),
            # Debian leaves out what upstream generated.
            prepare=("make", "--silent", "REBUILD_TABLES=1", "re2/perl_groups.cc", "re2/unicode_casefold.cc",
                     "re2/unicode_groups.cc"),
            # Not dfa_test, which takes minutes.
            binaries=("charclass_test", "compile_test", "filtered_re2_test", "mimics_pcre_test", "parse_test",
                      "possible_match_test", "re2_arg_test", "re2_test", "regexp_test", "required_prefix_test",
                      "search_test", "set_test", "simplify_test", "string_generator_test"),
            tests=139,
        ),
        Suite(
            name="googletest",
            package="",
            options=("-Dgtest_build_tests=ON", "-Dgmock_build_tests=ON"),
            # Not gtest_repeat_test, which calls RUN_ALL_TESTS() again and again, so that its tests would count
            # many times. It is gated like any other.
            binaries=("googletest-death-test-test", "googletest-filepath-test", "googletest-listener-test",
                      "googletest-message-test", "googletest-options-test", "googletest-param-test-test",
                      "googletest-port-test", "googletest-printers-test", "googletest-test-part-test",
                      "gtest-typed-test_test", "gtest-unittest-api_test", "gtest_main_unittest",
                      "gtest_pred_impl_unittest", "gtest_premature_exit_test", "gtest_prod_test",
                      "gtest_skip_test", "gtest_sole_header_test", "gtest_stress_test",
                      "gtest_unittest",
                      "gmock-cardinalities_test", "gmock-function-mocker_test", "gmock-more-actions_test",
                      "gmock-nice-strict_test", "gmock-port_test",
                      "gmock-spec-builders_test", "gmock_ex_test", "gmock_stress_test", "gmock_test"),
            tests=1528,
            needs_order=True,
            fails_alone=("googletest-param-test-test", "gtest-unittest-api_test"),
            # Its main runs the tests itself, prints more than their list, and aborts where one is missing.
            not_alone=("googletest-listener-test",),
        ),
    )
}
