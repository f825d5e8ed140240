"""The real suites that leakgate is held to: nobody here wrote them.

Fetched, built and gated below build/real of the checkout; the machine's own
sources of packages are left alone.
"""
import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent / "build" / "real"


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    package: str  # the Debian source package; empty: /usr/src/googletest
    options: tuple[str, ...]  # of its CMake
    binaries: tuple[str, ...]
    tests: int  # all of them run, or the gate fails
    slow: tuple[str, ...] = ()  # binaries that time themselves or take minutes: only measured
    by_timing: tuple[str, ...] = ()  # tests whose need of the budget file depends on thread timing
    runs_in_source: bool = False  # its tests open files of the source tree
    planted: str = ""  # the binary whose source SUITE_planted.patch changes

    @property
    def source(self) -> pathlib.Path:
        if not self.package:
            return pathlib.Path("/usr/src/googletest/googletest")
        return ROOT / "source" / self.name

    @property
    def build(self) -> pathlib.Path:
        return ROOT / "build" / self.name

    def command(self, binary: str, mode: str = "untouched") -> list[str]:
        """How `binary` is started; in listener mode its variant of that name."""
        suffix = {"untouched": "", "listener": "_listener", "planted": "_planted"}[mode]
        return [str(self.build / (binary + suffix))]

    @property
    def budget(self) -> pathlib.Path:
        return HERE / f"{self.name}.leakgate.json"


SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            name="leveldb",
            package="leveldb",
            options=("-DLEVELDB_BUILD_BENCHMARKS=OFF", "-DHAVE_TCMALLOC=0", "-DHAVE_SNAPPY=0",
                     "-DHAVE_CRC32C=0"),
            binaries=("arena_test", "bloom_test", "cache_test", "coding_test", "corruption_test",
                      "crc32c_test", "dbformat_test", "env_posix_test", "env_test",
                      "fault_injection_test", "filename_test", "filter_block_test", "hash_test",
                      "issue178_test", "issue200_test", "log_test", "logging_test", "memenv_test",
                      "no_destructor_test", "recovery_test", "skiplist_test", "status_test",
                      "table_test", "version_edit_test", "version_set_test", "write_batch_test"),
            tests=168,
            slow=("autocompact_test", "db_test", "issue320_test"),
            by_timing=("EnvTest.StartThread",),
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
            options=("-Dgtest_build_samples=ON",),
            binaries=tuple(f"sample{number}_unittest" for number in range(1, 11)),
            tests=53,
        ),
    )
}
