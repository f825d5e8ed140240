"""The environments of ../matrix: compilers, flags, standards, GoogleTests and C++ libraries, each
alone and a few together, not their product."""
import dataclasses

COMPILERS = ("g++", "clang++")
# The release of Debian that has it, so that its source package can be had.
GOOGLETESTS = {"bullseye": "1.10", "bookworm": "1.12", "trixie": "1.16", "sid": "1.18"}


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    compiler: str
    flags: tuple[str, ...] = ("-O2",)  # to compile and to link
    link: tuple[str, ...] = ()
    standard: str = "14"
    googletest: str = ""  # a release of GOOGLETESTS; empty: the library that this machine has installed
    runtime: str = "libstdc++"
    knows: str = "lines"  # what the binary tells of its code: lines, names, or nothing
    runtime_inside: bool = False  # a C++ runtime whose own blocks are not told from the program's
    refusal: str = ""  # why it is not traced; empty: it is
    has_library: bool = True  # the suite's shared library is one
    packages: tuple[str, ...] = ()  # of this machine's Debian, to compile with

    @property
    def names_all(self) -> bool:
        """Whether it is told what GoogleTest and the C++ library keep for themselves."""
        return self.knows != "nothing" and not self.runtime_inside


def both(name: str, *flags: str, **more) -> list[Cell]:
    return [Cell(name, compiler, flags=flags, **more) for compiler in COMPILERS]


def versions() -> list[Cell]:
    # GoogleTest wants C++17 from 1.17 on.
    return [Cell(f"GoogleTest {version}, C++{standard}", compiler, standard=standard, googletest=release)
            for release, version in GOOGLETESTS.items() for compiler in COMPILERS
            for standard in (("17",) if release == "sid" else ("14", "17") if release == "trixie" else ("14",))]


def standards() -> list[Cell]:
    return [Cell(f"GoogleTest {GOOGLETESTS[release]}, C++{standard}", compiler, standard=spelling,
                 googletest=release)
            for release, standard, spelling in (("bookworm", "17", "17"), ("bookworm", "20", "20"),
                                                ("sid", "20", "20"), ("sid", "23", "2b"))
            for compiler in COMPILERS]


def flags() -> list[Cell]:
    # GoogleTest is compiled so, too, where that says something.
    whole = {"googletest": "bookworm"}
    return [
        *both("-O0", "-O0", **whole), *both("-O2", "-O2", **whole), *both("-O3", "-O3", **whole),
        *both("-flto", "-O2", "-flto", **whole),
        *both("-fno-plt", "-O2", "-fno-plt"),
        *both("-static-libstdc++", "-O2", link=("-static-libstdc++",)),
        *both("-fomit-frame-pointer", "-O2", "-fomit-frame-pointer", **whole),
        *both("-fno-omit-frame-pointer", "-O2", "-fno-omit-frame-pointer", **whole),
        *both("-fcf-protection", "-O2", "-fcf-protection", **whole),
        Cell("-fsplit-stack", "g++", ("-O2", "-fsplit-stack"), link=("-fuse-ld=gold",)),
        *both("-gsplit-dwarf", "-O2", "-gsplit-dwarf"),
        *both("-gz", "-O2", "-gz"),
        *both("-gdwarf-4", "-O2", "-gdwarf-4"),
        *both("-g1", "-O2", "-g1"),
        *both("-g0", "-O2", "-g0", knows="names"),
        *both("stripped", "-O2", link=("-s",), knows="nothing"),
        *both("-no-pie", "-O2", "-fno-pie", link=("-no-pie",)),
        *both("-ffunction-sections -Wl,--gc-sections", "-O2", "-ffunction-sections", link=("-Wl,--gc-sections",)),
        Cell("-Wl,--icf=all (gold)", "g++", ("-O2", "-ffunction-sections"), link=("-fuse-ld=gold", "-Wl,--icf=all")),
        *both("-fsanitize=undefined", "-O1", "-fsanitize=undefined"),
    ]


def together() -> list[Cell]:
    return [
        *both("-O3 -flto -gz -fno-plt", "-O3", "-flto", "-gz", "-fno-plt", googletest="bookworm"),
        *both("-O3 -flto -gsplit-dwarf -gz", "-O3", "-flto", "-gsplit-dwarf", "-gz"),
        *both("-static-libstdc++ -static-libgcc", "-O2", link=("-static-libstdc++", "-static-libgcc")),
        *both("-static-libstdc++ -static-libgcc, stripped", "-O2",
              link=("-static-libstdc++", "-static-libgcc", "-s"), knows="nothing"),
        *both("-static-libstdc++ -rdynamic", "-O2", link=("-static-libstdc++", "-rdynamic")),
        *both("-fcf-protection=full -fno-plt -Wl,-z,now", "-O2", "-fcf-protection=full", "-fno-plt",
              link=("-Wl,-z,now",)),
        *both("-O3 -fomit-frame-pointer -g0 -no-pie", "-O3", "-fomit-frame-pointer", "-g0", "-fno-pie",
              link=("-no-pie",), knows="names"),
    ]


def libcxx() -> list[Cell]:
    packages = ("libc++-14-dev", "libc++abi-14-dev", "libc++1-14", "libc++abi1-14", "libunwind-14")
    return [
        Cell(f"libc++, {name}", "clang++", options, googletest=release, standard=standard, runtime="libc++",
             packages=packages, link=link, runtime_inside=bool(link))
        for name, options, link, release, standard in (
            ("-O0, C++14", ("-O0",), (), "bookworm", "14"), ("-O2, C++14", ("-O2",), (), "bookworm", "14"),
            ("-O3, C++20", ("-O3",), (), "sid", "20"), ("-O2 -flto, C++17", ("-O2", "-flto"), (), "trixie", "17"),
            ("-static-libstdc++", ("-O2",), ("-static-libstdc++",), "bookworm", "14"))]


def refused() -> list[Cell]:
    static = "it is statically linked, so no agent can be preloaded; link it dynamically"
    narrow = ("lib32stdc++-12-dev", "lib32stdc++6")
    cells = [
        Cell("-static", "g++", link=("-static",), refusal=static, has_library=False),
        Cell("-static-pie", "g++", ("-O2", "-fPIE"), link=("-static-pie",), refusal=static, has_library=False,
             googletest="bookworm"),
        Cell("-m32", "g++", ("-O2", "-m32"), googletest="bookworm", packages=narrow,
             refusal="it is built for 32-bit x86, and this leakgate's agent for x86-64; build the tests for x86-64"),
    ]
    for option, name, compilers in (("address", "AddressSanitizer", COMPILERS), ("leak", "LeakSanitizer", COMPILERS),
                                    ("thread", "ThreadSanitizer", COMPILERS),
                                    ("memory", "MemorySanitizer", ("clang++",))):
        remedy = f"it is built with {name}, which replaces malloc itself; gate a build without -fsanitize={option}"
        cells += [Cell(f"-fsanitize={option}", compiler, ("-O1", f"-fsanitize={option}"), refusal=remedy)
                  for compiler in compilers]
    return cells


CELLS = [*versions(), *standards(), *flags(), *together(), *libcxx(), *refused()]

# What is most different, with what ci/setup --tests installs, and nothing fetched.
QUICK = [
    Cell("-O0 -gsplit-dwarf", "g++", ("-O0", "-gsplit-dwarf")),
    Cell("-O3 -flto -gz -fno-plt -static-libstdc++, C++20", "clang++", ("-O3", "-flto", "-gz", "-fno-plt"),
         link=("-static-libstdc++",), standard="20"),
]
