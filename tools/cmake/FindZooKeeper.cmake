# SPDX-License-Identifier: Apache-2.0
#
# Finds the multi-threaded C client of ZooKeeper: the target ZooKeeper::zookeeper_mt. Distributions and the makefiles of
# ZooKeeper call this library zookeeper_mt. ZooKeeper's CMake build, and so vcpkg and Conan, call it zookeeper: a static
# library, which needs hashtable (vcpkg: zookeeper_hashtable), and OpenSSL if it was built with that. Result variables:
# ZooKeeper_FOUND, ZooKeeper_VERSION, ZooKeeper_INCLUDE_DIR, ZooKeeper_LIBRARY, ZooKeeper_SINGLE_THREADED (the library
# found has no threads). Hint: ZooKeeper_ROOT.

find_path(ZooKeeper_INCLUDE_DIR zookeeper.h PATH_SUFFIXES zookeeper
    DOC "the directory with zookeeper/zookeeper.h, or with zookeeper.h (Debian: libzookeeper-mt-dev)")
find_library(ZooKeeper_LIBRARY NAMES zookeeper_mt zookeeper NAMES_PER_DIR
    DOC "libzookeeper_mt (Debian: libzookeeper-mt-dev)")
find_library(ZooKeeper_HASHTABLE NAMES zookeeper_hashtable hashtable NAMES_PER_DIR
    DOC "of a static libzookeeper")

# Programs include <zookeeper/zookeeper.h>. Conan has the headers in no directory of that name, so a directory in the
# build tree gets headers that include them.
set(_zk_headers "${ZooKeeper_INCLUDE_DIR}")
set(_zk_forward "")
if(EXISTS "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper.h")
    string(APPEND _zk_headers "/zookeeper")
elseif(ZooKeeper_INCLUDE_DIR MATCHES "/zookeeper$")
    get_filename_component(ZooKeeper_INCLUDE_DIR "${ZooKeeper_INCLUDE_DIR}" DIRECTORY)
elseif(ZooKeeper_INCLUDE_DIR)
    set(_zk_forward "${CMAKE_BINARY_DIR}/CMakeFiles/ZooKeeper-headers")
    foreach(_zk_header proto recordio zookeeper zookeeper.jute zookeeper_log zookeeper_version)
        file(CONFIGURE OUTPUT "${_zk_forward}/zookeeper/${_zk_header}.h" CONTENT "#include <${_zk_header}.h>\n")
    endforeach()
    unset(_zk_header)
endif()

# Only the multi-threaded library has the synchronous functions.
set(ZooKeeper_SINGLE_THREADED FALSE)
set(_zk_threaded "${ZooKeeper_LIBRARY}")
if(ZooKeeper_LIBRARY)
    file(STRINGS "${ZooKeeper_LIBRARY}" _zk_sync REGEX "^zoo_get_children$" LIMIT_COUNT 1)
    if(NOT _zk_sync)
        set(ZooKeeper_SINGLE_THREADED TRUE)
        set(_zk_threaded "")
    endif()
    unset(_zk_sync)
endif()

if(ZooKeeper_INCLUDE_DIR)
    # zookeeper_version.h of 3.8 has the version in one string, that of older releases in three parts.
    file(GLOB _zk_version_h "${_zk_headers}/zookeeper_version.h")
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
    REQUIRED_VARS _zk_threaded ZooKeeper_INCLUDE_DIR
    VERSION_VAR ZooKeeper_VERSION
    REASON_FAILURE_MESSAGE "it has to be a library with threads")
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY ZooKeeper_HASHTABLE)

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_mt)
    add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
    set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
        IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR};${_zk_forward}")
    if(ZooKeeper_LIBRARY MATCHES "/libzookeeper\\.a$" AND ZooKeeper_HASHTABLE)
        find_package(Threads REQUIRED)
        set(_zk_needs "${ZooKeeper_HASHTABLE}" m Threads::Threads)
        file(STRINGS "${ZooKeeper_LIBRARY}" _zk_tls REGEX "^SSL_CTX_new$" LIMIT_COUNT 1)
        if(_zk_tls)
            find_package(OpenSSL REQUIRED)
            list(APPEND _zk_needs OpenSSL::SSL)
        endif()
        set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES INTERFACE_LINK_LIBRARIES "${_zk_needs}")
        unset(_zk_needs)
        unset(_zk_tls)
    endif()
endif()
unset(_zk_threaded)
unset(_zk_headers)
unset(_zk_forward)
