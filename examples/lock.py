#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lock.py [SERVERS PATH]: acquires a mutex from Python. cffi reads the unchanged C header."""
import subprocess
import sys

import cffi

servers, path = sys.argv[1:] or ["127.0.0.1:2181", "/demo/first"]
flags = subprocess.check_output(["pkg-config", "--cflags", "zkrecipes"], text=True).split()
ffi = cffi.FFI()
ffi.cdef(subprocess.check_output(
    ["cc", "-E", "-P", "-D__attribute__(x)=", *flags, "-xc", "-"], input="#include <zkr/zkr.h>", text=True))
zkr = ffi.dlopen("libzkrecipes.so.0")


def must(code):
    if code != zkr.ZKR_OK:
        sys.exit("lock.py: " + ffi.string(zkr.zkr_last_error().message).decode())


client, mutex, token = ffi.new("zkr_client **"), ffi.new("zkr_mutex **"), ffi.new("int64_t *")
must(zkr.zkr_client_open(client, servers.encode(), ffi.NULL))
must(zkr.zkr_mutex_create(mutex, client[0], path.encode(), ffi.NULL))
must(zkr.zkr_mutex_acquire(mutex[0], 10000))  # ms; other Python threads keep running
must(zkr.zkr_mutex_fencing_token(mutex[0], token))
print("held, fencing token", token[0], flush=True)
must(zkr.zkr_mutex_release(mutex[0]))
zkr.zkr_mutex_destroy(mutex[0])
must(zkr.zkr_client_close(client[0]))
