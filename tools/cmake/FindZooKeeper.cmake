# SPDX-License-Identifier: Apache-2.0
#
# Finds the multi-threaded C client of ZooKeeper: the target ZooKeeper::zookeeper_mt.
# Result variables: ZooKeeper_FOUND, ZooKeeper_VERSION, ZooKeeper_INCLUDE_DIR,
# ZooKeeper_LIBRARY. Hint: ZooKeeper_ROOT.

find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h
    DOC "the directory above zookeeper/zookeeper.h (Debian: libzookeeper-mt-dev)")
find_library(ZooKeeper_LIBRARY zookeeper_mt
    DOC "libzookeeper_mt (Debian: libzookeeper-mt-dev)")

if(ZooKeeper_INCLUDE_DIR)
    # 3.8 has the number in one string in zookeeper_version.h, older ones in three parts.
    file(GLOB _zk_version_h "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
    if(_zk_version_h)
        file(STRINGS "${_zk_version_h}" _zk_lines REGEX
            "^#define (ZOO_VERSION|ZOO_(MAJOR|MINOR|PATCH)_VERSION) ")
        string(REGEX MATCHALL "[0-9]+" _zk_numbers "${_zk_lines}")
        list(JOIN _zk_numbers "." ZooKeeper_VERSION)
    endif()
    unset(_zk_version_h)
    unset(_zk_lines)
    unset(_zk_numbers)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
    REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR
    VERSION_VAR ZooKeeper_VERSION)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_mt)
    add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
    set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
        IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}")
endif()
