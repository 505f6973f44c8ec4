# SPDX-License-Identifier: Apache-2.0
#
# Finds the dependencies of the library, and cmocka if the tests are built. Reports all missing dependencies together.
# zkr_left_out() records an optional part that is not built; zkr_summary() lists these parts at the end.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(_wanted 3.7)
find_package(ZooKeeper ${_wanted} QUIET)
find_path(UTHASH_INCLUDE_DIR uthash.h DOC "where uthash.h is (Debian: uthash-dev)")
mark_as_advanced(UTHASH_INCLUDE_DIR)

set(_missing "")
set(_packages "")
set(_hints "")
if(NOT ZooKeeper_FOUND)
    set(_words "libzookeeper_mt ${_wanted} or later, the C client of ZooKeeper")
    if(ZooKeeper_SINGLE_THREADED)
        string(APPEND _words "; ${ZooKeeper_LIBRARY} is single-threaded (vcpkg: install zookeeper[sync])")
    elseif(ZooKeeper_LIBRARY AND ZooKeeper_VERSION)
        string(APPEND _words "; ${ZooKeeper_LIBRARY} is ${ZooKeeper_VERSION}")
    endif()
    list(APPEND _missing "${_words}")
    list(APPEND _packages libzookeeper-mt-dev)
    list(APPEND _hints -DZooKeeper_ROOT=DIR)
endif()
if(NOT UTHASH_INCLUDE_DIR)
    list(APPEND _missing "uthash.h, hash tables in a header")
    list(APPEND _packages uthash-dev)
    list(APPEND _hints -DUTHASH_INCLUDE_DIR=DIR)
endif()

if(ZKR_BUILD_TESTS)
    find_path(CMOCKA_INCLUDE_DIR cmocka.h DOC "where cmocka.h is (Debian: libcmocka-dev)")
    find_library(CMOCKA_LIBRARY cmocka DOC "libcmocka (Debian: libcmocka-dev)")
    mark_as_advanced(CMOCKA_INCLUDE_DIR CMOCKA_LIBRARY)
    if(NOT CMOCKA_INCLUDE_DIR OR NOT CMOCKA_LIBRARY)
        list(APPEND _missing "cmocka, for the tests (ZKR_BUILD_TESTS)")
        list(APPEND _packages libcmocka-dev)
        list(APPEND _hints -DCMOCKA_INCLUDE_DIR=DIR -DCMOCKA_LIBRARY=FILE)
    endif()
endif()

if(_missing)
    list(JOIN _missing "\n  " _missing)
    list(JOIN _packages " " _packages)
    list(JOIN _hints " " _hints)
    # CMake prints indented lines unchanged.
    message(FATAL_ERROR
        "zkrecipes needs what is not here:\n  ${_missing}\n"
        "On Debian and Ubuntu:\n  sudo apt-get install ${_packages}\n"
        "Elsewhere, say where it is:\n  cmake ${_hints} ...\n")
endif()

# zkr_left_out(WHAT WHY): records a part that is not built because something is missing.
function(zkr_left_out what why)
    set_property(GLOBAL APPEND PROPERTY ZKR_LEFT_OUT "${what}: ${why}")
endfunction()

function(zkr_summary)
    set(parts "shared and static library")
    foreach(part IN ITEMS TOOLS TESTS EXAMPLES BENCH)
        if(ZKR_BUILD_${part})
            string(TOLOWER "${part}" name)
            string(REPLACE "tools" "zkr and the manual" name "${name}")
            string(APPEND parts ", ${name}")
        endif()
    endforeach()
    message(STATUS "zkrecipes ${PROJECT_VERSION}: ${parts}; installs below ${CMAKE_INSTALL_PREFIX}")
    get_property(left_out GLOBAL PROPERTY ZKR_LEFT_OUT)
    foreach(each IN LISTS left_out)
        message(STATUS "left out, ${each}")
    endforeach()
endfunction()
