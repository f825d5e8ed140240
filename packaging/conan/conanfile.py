"""leakgate for Conan 2, from the checkout that this recipe lies in: conan create packaging/conan"""
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt


class Leakgate(ConanFile):
    name = "leakgate"
    description = "A leak gate for GoogleTest suites"
    license = "Apache-2.0"
    package_type = "application"
    settings = "os", "arch", "compiler", "build_type"

    @property
    def _checkout(self) -> pathlib.Path:
        return pathlib.Path(self.recipe_folder).resolve().parents[1]

    def set_version(self):
        text = (self._checkout / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(leakgate VERSION ([\d.]+)", text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "common/*", "docs/*", "plugin/*", "runner/*"):
            copy(self, pattern, src=str(self._checkout), dst=self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("leakgate is for Linux on x86-64 and aarch64")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option, value in (("BUILD_TESTS", "OFF"), ("BUILD_EXAMPLES", "OFF"), ("LINES_ONLY", "ON")):
            toolchain.cache_variables[f"LEAKGATE_{option}"] = value
        toolchain.generate()

    def build(self):
        # What leakgate is linked with is the system's, and needed only here. ci/setup has the same list. Conan
        # installs them with -c tools.system.package_manager:mode=install; else it says which are missing.
        apt = Apt(self)
        apt.install([
            "nlohmann-json3-dev", "libcli11-dev", "libfmt-dev", "libexpected-dev", "libdw-dev", "libpugixml-dev",
            "zlib1g-dev", "libsqlite3-dev", "libxxhash-dev", "libminizip-dev", "libzstd-dev", "libbz2-dev",
            "liblzma-dev", "libgtest-dev"], check=True)
        apt.install_substitutes(["libboost1.81-dev"], ["libboost-dev", "libboost-process-dev"], ["libboost-dev"])
        apt.install_substitutes(["libboost-filesystem1.81-dev"], ["libboost-filesystem-dev"])
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package brings its own leakgateConfig.cmake, whose targets are compiled with the user's GoogleTest.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/leakgate"]
        self.cpp_info.libdirs = []
