# SPDX-License-Identifier: Apache-2.0
"""check_cffi.py ROOT CC LIBRARY: cffi, whose parser is pycparser, reads <zkr/zkr.h> and <zkr/testing.h> as docs/recipes.md
says, and finds every function of zkr.h in the shared library."""
import re
import subprocess
import sys
from pathlib import Path

import cffi

root, cc, library = sys.argv[1:]
failed = []


def read(header):
    """What cffi makes of a header."""
    ffi = cffi.FFI()
    ffi.cdef(subprocess.check_output(
        [cc, "-E", "-P", "-D__attribute__(x)=", "-I", f"{root}/include", "-xc", "-"],
        input=f"#include <zkr/{header}>", text=True))
    return ffi


def functions(header):
    """Functions that a header and those it includes declare."""
    text = Path(root, "include/zkr", header).read_text(encoding="utf-8")
    found = re.findall(r"^ZKR_API[^;(]*?\b(zkr_\w+)\(", text, re.M)
    for other in re.findall(r"^#include <zkr/(\w+\.h)>", text, re.M):
        found += functions(other)
    return found


loaded = read("zkr.h").dlopen(library)
names = sorted(set(functions("zkr.h")))
for name in names:
    try:
        getattr(loaded, name)
    except AttributeError as error:
        failed.append(f"{name}: {error}")
if loaded.ZKR_EINVAL != -1:
    failed.append("ZKR_EINVAL has another value")
tests = read("testing.h")
if tests.sizeof("zkr_test_server_options") % 8 != 0:
    failed.append("zkr_test_server_options has padding")
print("\n".join(failed) if failed else f"{len(names)} functions")
sys.exit(1 if failed or len(names) < 80 else 0)
