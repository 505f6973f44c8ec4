/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raii SERVERS PATH N: N pieces of work under the lock at PATH, in C++17. The hold is a value: the end
 * of its scope releases it, and it can be moved to another thread. Errors are exceptions. The program
 * prints "work I token TOKEN" for each piece.
 */
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>

#include <zkr/zkr.hpp>

using namespace std::chrono_literals;

static void work(int i, zkr::hold hold)
{
    if (hold.valid_for() > 20ms) { /* or write to a store that checks the token */
        std::printf("work %d token %lld\n", i,
                    static_cast<long long>(hold.fencing_token()));
    }
    hold.release(); /* reports a loss; the end of the scope would not */
}

static void by_a_thread(zkr::mutex &mutex)
{
    std::unique_lock lock(mutex, 10s);
    if (lock && mutex.valid_for() > 100ms)
        std::printf("held by this thread, token %lld\n",
                    static_cast<long long>(mutex.fencing_token()));
}

int main(int argc, char **argv)
try {
    if (argc != 4) {
        std::fputs("usage: raii SERVERS PATH N\n", stderr);
        return 64;
    }
    zkr::client client(argv[1]);
    zkr::mutex mutex(client, argv[2]);
    for (int i = 0; i < std::atoi(argv[3]); i++) {
        /* This thread waits, and another thread works. */
        zkr::hold hold(mutex, 30s);
        std::async(std::launch::async, work, i, std::move(hold)).get();
    }
    if (std::atoi(argv[3]) == 0)
        by_a_thread(mutex);
    return 0;
} catch (const zkr::error &e) {
    std::fprintf(stderr, "raii: %s\n", e.what());
    return 1;
}
