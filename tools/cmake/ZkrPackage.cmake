# SPDX-License-Identifier: Apache-2.0
#
# Packages for Debian and Ubuntu: cpack -G DEB in a build directory makes libzkrecipes0,
# libzkrecipes-dev and zkrecipes-tools. ./run package builds, checks and tries them.

set(CPACK_PACKAGE_NAME zkrecipes)
set(ZKR_MAINTAINER "zkrecipes <zkrecipes@example.org>" CACHE STRING "of the Debian packages")
set(CPACK_PACKAGE_CONTACT "${ZKR_MAINTAINER}")
# Not ours to say: each package has a line of its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CPACK_DEFAULT_PACKAGE_DESCRIPTION_SUMMARY}")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(_release 0local1)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${_release})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(_more "The recipes follow those of Apache Curator and share their paths: a fair,
re-entrant mutex, a read-write lock, a semaphore, locks on several paths at
once, and leader election.")

set(CPACK_COMPONENTS_ALL lib dev tools)
set(CPACK_DEBIAN_LIB_PACKAGE_NAME libzkrecipes${ZKR_SOVERSION})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIB_DESCRIPTION "locks and elections on ZooKeeper - shared library\n${_more}")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libzkrecipes-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libzkrecipes${ZKR_SOVERSION} (= ${PROJECT_VERSION}-${_release}), libzookeeper-mt-dev")
# libzkrecipes-testing starts servers.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "zookeeper, default-jre-headless")
set(CPACK_DEBIAN_DEV_DESCRIPTION
    "locks and elections on ZooKeeper - development files\n${_more}\n.\nHeaders, the static libraries, manual pages, pkg-config and CMake files.\nlibzkrecipes-testing is for tests of programs: it runs servers and makes\nthem, their connections and their sessions fail.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME zkrecipes-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION
    "run programs under locks and elections on ZooKeeper\nThe command zkr runs any program while it holds a lock that hosts share, as
flock does on one host, or while it leads an election. It shows who holds a
lock and who waits for it.")

# What Debian's policy wants of each package: its copyright, changelog, and compressed pages.
set(ZKR_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(ZKR_PACKAGE_VERSION "${PROJECT_VERSION}-${_release}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/ZkrDebian.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/ZkrDebian.cmake" @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_BINARY_DIR}/ZkrDebian.cmake")
set(_symbols "${CMAKE_CURRENT_BINARY_DIR}/debian/symbols")
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA
    "${_symbols}" "${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs" "${CMAKE_CURRENT_BINARY_DIR}/debian/triggers")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs"
    "libzkrecipes ${ZKR_SOVERSION} libzkrecipes${ZKR_SOVERSION}\n")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")

# Each public function, since the version that its comment says.
set(_since_when "")
file(GLOB _headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/zkr/*.h")
list(FILTER _headers EXCLUDE REGEX "/testing\\.h$") # of a static library
foreach(_header IN LISTS _headers)
    file(READ "${_header}" _text)
    string(REGEX MATCHALL "Since: [0-9]+\\.[0-9]+|ZKR_API[^;(]*[ *\n]zkr_[a-z0-9_]+\\(" _found "${_text}")
    set(_since "")
    foreach(_each IN LISTS _found)
        if(_each MATCHES "^Since: (.*)$")
            set(_since "${CMAKE_MATCH_1}.0")
        elseif(_since STREQUAL "")
            message(FATAL_ERROR "${_header}: no \"Since:\" in the comment of ${_each}")
        else()
            string(REGEX MATCH "(zkr_[a-z0-9_]+)\\($" _name "${_each}")
            list(APPEND _since_when " ${CMAKE_MATCH_1}@Base ${_since}")
            set(_since "")
        endif()
    endforeach()
endforeach()
list(SORT _since_when)
list(JOIN _since_when "\n" _since_when)
file(WRITE "${_symbols}"
    "libzkrecipes.so.${ZKR_SOVERSION} libzkrecipes${ZKR_SOVERSION} #MINVER#\n${_since_when}\n")

include(CPack)
include(CPackComponent)
