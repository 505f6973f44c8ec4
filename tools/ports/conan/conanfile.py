# SPDX-License-Identifier: Apache-2.0
"""Conan 2: builds the tree that this recipe is in."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class Zkrecipes(ConanFile):
    name = "zkrecipes"
    description = "ZooKeeper recipes for C: locks and leader election"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    generators = "CMakeDeps"

    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._tree(), "include", "zkr", "version.h"))
        parts = re.findall(r"^#define ZKR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
        self.version = ".".join(parts)

    def export_sources(self):
        for pattern in "CMakeLists.txt", "LICENSE", "include/*", "lib/*", "tools/cmake/*":
            copy(self, pattern, self._tree(), self.export_sources_folder)

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("zkrecipes runs on Linux only")

    def requirements(self):
        self.requires("zookeeper-client-c/[>=3.8.1 <4]", transitive_headers=True, transitive_libs=True)
        self.requires("uthash/[>=2.3.0 <3]", visible=False)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ZKR_BUILD_TOOLS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # zookeeper-client-c has its headers in no directory zookeeper, which programs expect.
        copy(self, "*.h", os.path.join(self.build_folder, "CMakeFiles", "ZooKeeper-headers"),
             os.path.join(self.package_folder, "include"))
        # Conan writes both from package_info().
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        library = self.cpp_info.components["zkrecipes"]
        library.libs = ["zkrecipes"]
        library.system_libs = ["pthread"]
        library.requires = ["zookeeper-client-c::zookeeper-client-c"]
        library.set_property("cmake_target_name", "zkrecipes::zkrecipes")
        library.set_property("pkg_config_name", "zkrecipes")
        if not self.options.shared:
            library.set_property("cmake_target_aliases", ["zkrecipes::static"])

        testing = self.cpp_info.components["testing"]
        testing.libs = ["zkrecipes-testing"]
        testing.requires = ["zkrecipes"]
        testing.set_property("cmake_target_name", "zkrecipes::testing")
        testing.set_property("pkg_config_name", "zkrecipes-testing")

        self.runenv_info.define_path(
            "ZKR_GUARDIAN_PATH", os.path.join(self.package_folder, "bin", "zkr-guardian"))
