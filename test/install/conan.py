# SPDX-License-Identifier: Apache-2.0
"""conan.py ROOT CMAKE COMPILER WORK INCLUDE LIBRARY UTHASH GENERATOR: runs the recipe for Conan 2 without Conan, with a
stand-in for each of the names that it imports. The headers and the library of ZooKeeper are where Conan has them. The
program of test_package is linked with what package_info() names, and runs."""
import fnmatch
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import types

ROOT, CMAKE, COMPILER, WORK, INCLUDE, LIBRARY, UTHASH, GENERATOR = sys.argv[1:]
PORT = os.path.join(ROOT, "tools", "ports", "conan")
SOURCE, BUILD, PACKAGE, ELSEWHERE = (os.path.join(WORK, name) for name in ("source", "build", "package", "elsewhere"))
ZOOKEEPER_H = os.path.join(WORK, "zookeeper-client-c", "include", "zookeeper.h")


def run(*command, env=None):
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
    return done.stdout


# ---- the stand-ins ----


class Settings:
    os = "Linux"

    def rm_safe(self, _name):
        pass


class Component:
    """What a package declares for one library."""

    def __init__(self, prefix, libs=(), system_libs=(), requires=()):
        self.prefix, self.properties = prefix, {}
        self.libs, self.system_libs, self.requires = libs, system_libs, requires

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Component(ELSEWHERE)
        return self[name]


class ConanFile:
    def __init__(self):
        self.recipe_folder, self.export_sources_folder, self.source_folder = PORT, SOURCE, SOURCE
        self.build_folder, self.package_folder = BUILD, PACKAGE
        self.settings = Settings()
        self.options = types.SimpleNamespace(**self.default_options)
        self.required, self.environment = {}, {}
        self.cpp_info = types.SimpleNamespace(components=Components())
        self.runenv_info = types.SimpleNamespace(define_path=self.environment.__setitem__)

    def requires(self, reference, **traits):
        self.required[reference.split("/")[0]] = traits


def copy(_recipe, pattern, src, dst):
    for folder, _, files in os.walk(src):
        for file in files:
            path = os.path.join(folder, file)
            name = os.path.relpath(path, src)
            if fnmatch.fnmatch(name, pattern):
                os.makedirs(os.path.dirname(os.path.join(dst, name)), exist_ok=True)
                shutil.copy(path, os.path.join(dst, name))


def load(_recipe, path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        needed = [dependency(name).prefix for name in self.recipe.required]
        self.recipe.toolchain = [
            "-DCMAKE_INCLUDE_PATH=" + ";".join(prefix + "/include" for prefix in needed),
            "-DCMAKE_LIBRARY_PATH=" + ";".join(prefix + "/lib" for prefix in needed),
            f"-DBUILD_SHARED_LIBS={self.recipe.options.shared}",
            "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_INSTALL_LIBEXECDIR=bin",
            *(f"-D{name}={value}" for name, value in self.cache_variables.items())]


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        run(CMAKE, "-S", SOURCE, "-B", BUILD, "-G", GENERATOR, "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_INSTALL_PREFIX=" + PACKAGE, "-DCMAKE_C_COMPILER=" + COMPILER, *self.recipe.toolchain)

    def build(self):
        run(CMAKE, "--build", BUILD, "--parallel", "2")

    def install(self):
        run(CMAKE, "--install", BUILD)


def module(name, **names):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(names)


module("conan", ConanFile=ConanFile)
module("conan.errors", ConanInvalidConfiguration=Exception)
module("conan.tools")
module("conan.tools.cmake", CMake=CMake, CMakeToolchain=CMakeToolchain, cmake_layout=lambda recipe: None)
module("conan.tools.files", copy=copy, load=load, rmdir=lambda recipe, path: shutil.rmtree(path))


# ---- required packages, taken from the system ----


def dependency(name):
    prefix = os.path.join(WORK, name)
    return {"uthash": Component(prefix),
            "zookeeper-client-c": Component(prefix, ["zookeeper", "hashtable"], ["rt", "pthread", "m"])}[name]


def link_dependencies():
    for folder in "uthash/include", "zookeeper-client-c/include", "zookeeper-client-c/lib":
        os.makedirs(os.path.join(WORK, folder))
    os.symlink(os.path.join(UTHASH, "uthash.h"), os.path.join(WORK, "uthash/include/uthash.h"))
    zookeeper = os.path.join(WORK, "zookeeper-client-c")
    for header in glob.glob(os.path.join(INCLUDE, "zookeeper", "*.h")):
        os.symlink(header, os.path.join(zookeeper, "include", os.path.basename(header)))
    # This header is a regular file, because the compiler lists the target of a symbolic link.
    os.remove(ZOOKEEPER_H)
    with open(ZOOKEEPER_H, "w", encoding="utf-8") as file:
        file.write(f'#include "{INCLUDE}/zookeeper/zookeeper.h"\n')
    os.symlink(os.path.splitext(LIBRARY)[0] + ".a", os.path.join(zookeeper, "lib", "libzookeeper.a"))
    run("ar", "qc", os.path.join(zookeeper, "lib", "libhashtable.a"))


# ---- the test ----


def flags(components, name):
    """The compiler options of a component, or of a package that the recipe requires."""
    package, _, of_other = name.partition("::")
    component = dependency(package) if of_other else components[name]
    said = ["-I" + component.prefix + "/include", "-L" + component.prefix + "/lib"]
    said += ["-l" + library for library in component.libs]
    for required in component.requires:
        said += flags(components, required)
    return said + ["-l" + library for library in component.system_libs]


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    link_dependencies()
    spec = importlib.util.spec_from_file_location("conanfile", os.path.join(PORT, "conanfile.py"))
    conanfile = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conanfile)
    recipe = conanfile.Zkrecipes()
    for step in ("set_version", "export_sources", "configure", "validate", "requirements", "layout", "generate", "build",
                 "package"):
        getattr(recipe, step)()
    run("grep", "-rqF", ZOOKEEPER_H, BUILD)  # one of the files that the compiler has read
    # Another machine has only the package.
    for folder in SOURCE, BUILD:
        shutil.rmtree(folder)
    recipe.package_folder = ELSEWHERE
    os.rename(PACKAGE, ELSEWHERE)
    recipe.package_info()

    failed = []
    if not recipe.required["zookeeper-client-c"]["transitive_headers"]:
        failed.append("programs do not see the headers of ZooKeeper")
    for folder in "lib/cmake", "lib/pkgconfig":
        if os.path.exists(os.path.join(ELSEWHERE, folder)):
            failed.append("installs " + folder)
    if not os.path.exists(os.path.join(ELSEWHERE, "licenses", "LICENSE")):
        failed.append("lacks the license")
    libraries = sorted(os.listdir(os.path.join(ELSEWHERE, "lib")))
    if libraries != ["libzkrecipes-testing.a", "libzkrecipes.a"]:
        failed.append(f"installs {libraries}")
    program = os.path.join(WORK, "program")
    for name in recipe.cpp_info.components:
        command = [COMPILER, os.path.join(PORT, "test_package", "test_package.c"), *flags(recipe.cpp_info.components, name)]
        if ZOOKEEPER_H not in run(*command, "-M"):
            failed.append("the program has other headers of ZooKeeper")
        run(*command, "-o", program)
        said = run(program, env=recipe.environment)
        if said != recipe.version + "\n":
            failed.append(f"the program says {said}")
    if failed:
        sys.exit("\n".join(failed))
    shutil.rmtree(WORK)


main()
