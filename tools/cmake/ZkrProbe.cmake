# SPDX-License-Identifier: Apache-2.0
#
# What the ZooKeeper client at hand can do: ZKR_PROBED becomes a list of definitions, each
# NAME=1 or absent.

include(CheckLibraryExists)
include(CMakePushCheckState)

cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
# TLS is a choice made when ZooKeeper was built. Its header declares the call only beside
# headers of OpenSSL, so the library is asked and the prototype is ours.
check_library_exists("${ZooKeeper_LIBRARY}" zookeeper_init_ssl ""
    ZKR_HAVE_ZOOKEEPER_INIT_SSL)
cmake_pop_check_state()

set(ZKR_PROBED "")
if(ZKR_HAVE_ZOOKEEPER_INIT_SSL)
    list(APPEND ZKR_PROBED ZKR_HAVE_ZOOKEEPER_INIT_SSL=1)
endif()
