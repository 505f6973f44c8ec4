/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks SERVERS PATH: tests all of zkr/zkr.hpp below PATH. Prints each failed expectation. Exits with 1 if there was
 * one.
 */
#include <atomic>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include <zkr/testing.h>
#include <zkr/zkr.hpp>

using namespace std::chrono_literals;

namespace
{

int failures;

#define EXPECT(what)                                                                   \
    ((what) ? void()                                                                   \
            : (++failures, void(std::printf("line %d: %s\n", __LINE__, #what))))

/* Returns the code of the exception that @fn throws, or no error if it returns. */
template <typename Fn> std::error_code thrown(Fn fn)
{
    try {
        fn();
    } catch (const zkr::error &e) {
        EXPECT(*e.what() != '\0');
        return e.code();
    }
    return {};
}

template <typename Fn> auto elsewhere(Fn fn)
{
    return std::async(std::launch::async, fn).get();
}

void limits()
{
    EXPECT(zkr::limit(-5s).ms == 0);
    EXPECT(zkr::limit(0s).ms == 0);
    EXPECT(zkr::limit(1ns).ms == 1);
    EXPECT(zkr::limit(1500us).ms == 2);
    EXPECT(zkr::limit(std::chrono::duration<double>(0.25)).ms == 250);
    EXPECT(zkr::limit(std::chrono::hours(24)).ms == 86400000);
    EXPECT(zkr::limit(zkr::forever).ms == ZKR_FOREVER);
    EXPECT(zkr::limit(std::chrono::hours::max()).ms == ZKR_FOREVER);
    EXPECT(zkr::limit(std::chrono::hours::min()).ms == 0);
}

void a_mutex_is_locked(zkr::client &client, const std::string &path)
{
    zkr::mutex mutex(client, path), other(client, path + "-b");
    {
        std::unique_lock lock(mutex, 10s);
        EXPECT(lock && mutex.is_held() && mutex.valid_for() > 100ms);
        EXPECT(mutex.fencing_token() > 0 && mutex.node().find(path + "/") == 0);
        EXPECT(mutex.try_lock()); /* re-entrant */
        mutex.release();
        EXPECT(!elsewhere([&] { return mutex.try_lock(); }));
        EXPECT(!elsewhere([&] { return mutex.try_lock_for(500ms); }));
        EXPECT(!elsewhere([&] {
            return mutex.try_lock_until(std::chrono::steady_clock::now() + 500ms);
        }));
        EXPECT(thrown([&] { zkr::hold(mutex, 500ms); }) == std::errc::timed_out);
    }
    EXPECT(mutex.valid_for() == 0ms);
    EXPECT(thrown([&] { (void)mutex.fencing_token(); }) ==
           zkr::make_error_code(ZKR_ENOTOWNER));
    mutex.unlock(); /* not held, but an unlock throws no exception */
    {
        std::scoped_lock both(mutex, other);
        EXPECT(mutex.is_held() && other.is_held());
    }
    std::lock_guard again(mutex);
    EXPECT(client.flush(10s));
}

void readers_share(zkr::client &client, const std::string &path)
{
    zkr::shared_mutex rw(client, path);
    std::shared_lock reader(rw);
    EXPECT(rw.reader().valid_for() > 0ms);
    EXPECT(elsewhere([&] { return std::shared_lock(rw, 10s).owns_lock(); }));
    EXPECT(!elsewhere([&] { return std::unique_lock(rw, 500ms).owns_lock(); }));
    EXPECT(thrown([&] { rw.lock(); }) == zkr::make_error_code(ZKR_EDEADLK));
    reader.unlock();
    std::unique_lock writer(rw);
    EXPECT(rw.fencing_token() > 0);
    EXPECT(!elsewhere([&] { return rw.try_lock_shared(); }));
    EXPECT(!elsewhere([&] { return rw.try_lock_shared_for(500ms); }));
}

void a_hold_moves(zkr::client &client, const std::string &path)
{
    zkr::mutex mutex(client, path);
    zkr::hold hold(mutex);
    const auto token = hold.fencing_token();
    EXPECT(hold.valid_for() > 0ms && hold.node().find(path + "/") == 0);
    auto worker = std::async(
        std::launch::async,
        [token](zkr::hold mine) {
            EXPECT(mine.fencing_token() == token);
            mine.release();
            EXPECT(mine.valid_for() == 0ms);
        },
        std::move(hold));
    worker.get();
    EXPECT(zkr::hold(mutex, 10s).fencing_token() > token);
}

void a_loss_is_told(const char *servers, const std::string &path)
{
    zkr::client client(servers);
    std::promise<std::int64_t> lost;
    zkr::mutex_options options;
    options.on_lost = [&](const zkr_lost &l) { lost.set_value(l.fencing_token); };
    zkr::mutex mutex(client, path, options);
    mutex.lock();
    const auto token = mutex.fencing_token();
    EXPECT(zkr_test_expire_holder(servers, path.c_str()) == ZKR_OK);
    EXPECT(lost.get_future().get() == token);
    EXPECT(mutex.valid_for() == 0ms);
    EXPECT(thrown([&] { mutex.release(); }) == zkr::make_error_code(ZKR_ESESSION));
    std::lock_guard again(mutex);
}

void a_latch_leads(zkr::client &client, const std::string &path)
{
    std::promise<std::int64_t> gained;
    std::atomic<bool> over{false};
    zkr::leader_latch_options options;
    options.on_gain = [&](std::int64_t token) { gained.set_value(token); };
    options.on_loss = [&](const zkr_lost &) { over = true; };
    zkr::leader_latch latch(client, path, "host-17", options);
    EXPECT(thrown([&] { latch.await(0s); }) == zkr::make_error_code(ZKR_ESTATE));
    latch.start();
    EXPECT(latch.await(10s) && latch.has_leadership() && latch.valid_for() > 0ms);
    const auto token = latch.fencing_token();
    EXPECT(gained.get_future().get() == token);
    EXPECT(latch.valid_for(token) > 0ms && latch.valid_for(token - 1) == 0ms);
    EXPECT(latch.leader() == "host-17");
    zkr::leader_latch second(client, path, "host-18");
    second.start();
    EXPECT(!second.await(500ms));
    latch.stop(true);
    EXPECT(over);
    EXPECT(latch.valid_for(token) == 0ms);
    EXPECT(second.await(10s));
}

void a_client_moves(const char *servers, const std::string &path)
{
    std::atomic<int> states{0};
    zkr::client_options options;
    options.session_timeout_ms = 5000;
    options.on_state = [&](int) { states++; };
    zkr::client first(servers, options);
    zkr::client client(std::move(first));
    zkr::mutex mutex(client, path);
    mutex.lock();
    EXPECT(client.valid_for() > 0ms);
    for (int i = 0; i < 1000 && states == 0; i++) { /* another thread calls on_state */
        std::this_thread::sleep_for(10ms);
    }
    EXPECT(states > 0);
    mutex.unlock();
    client.shutdown();
    EXPECT(thrown([&] { mutex.lock(); }) == zkr::make_error_code(ZKR_ECLOSED));
    EXPECT(thrown([] { zkr::client("no host"); }) == std::errc::invalid_argument);
}

/* A client that is replaced by another one is closed first, and reports the end. */
void a_client_is_replaced(const char *servers, const std::string &path)
{
    std::atomic<int> closed{0};
    std::vector<zkr::client> clients;
    for (int i = 0; i < 3; i++) {
        zkr::client_options options;
        options.on_state = [&closed, text = std::string(64, 'x')](int state) {
            closed += state == ZKR_STATE_CLOSED && text.back() == 'x';
        };
        clients.emplace_back(servers, options);
    }
    clients.erase(clients.begin());
    EXPECT(closed == 1);
    zkr::client &first = clients.front();
    first = std::move(clients.back());
    EXPECT(closed == 2);
    {
        zkr::mutex mutex(first, path);
        mutex.lock();
        mutex.unlock();
    }
    clients.clear();
    EXPECT(closed == 3);
}

/* Deadlines may have any clock and unit, up to the limits of their type. */
void deadlines_have_no_limits(zkr::client &client, const std::string &path)
{
    using system = std::chrono::system_clock;
    using steady = std::chrono::steady_clock;
    using hours = std::chrono::hours;
    zkr::mutex mutex(client, path);
    const auto locks_by = [&](const auto &deadline, bool waits) {
        zkr::hold holder(mutex, 10s);
        auto obtained = std::async(std::launch::async, [&] {
            bool locked = mutex.try_lock_until(deadline);
            if (locked) {
                mutex.unlock();
            }
            return locked;
        });
        auto seen = obtained.wait_for(waits ? 300ms : 10000ms);
        EXPECT((seen == std::future_status::timeout) == waits);
        holder.release();
        EXPECT(obtained.get() == waits);
    };
    locks_by(steady::time_point::min(), false);
    locks_by(system::time_point::min(), false);
    locks_by(std::chrono::time_point<system, hours>::min(), false);
    locks_by(steady::time_point::max(), true);
    locks_by(std::chrono::time_point<system, hours>::max(), true);
    locks_by(steady::now() + 10s, true);
    EXPECT(mutex.try_lock_until(system::now() + 10s));
    mutex.unlock();
}

static_assert(std::is_nothrow_move_constructible_v<zkr::hold>);
static_assert(std::is_nothrow_move_assignable_v<zkr::client>);
static_assert(std::is_nothrow_move_constructible_v<zkr::client>);
static_assert(!std::is_copy_constructible_v<zkr::mutex>);
static_assert(std::is_nothrow_copy_constructible_v<zkr::error>);

} // namespace

int main(int argc, char **argv)
try {
    if (argc != 3) {
        return 64;
    }
    const std::string path = argv[2];
    limits();
    {
        zkr::client client(argv[1]);
        a_mutex_is_locked(client, path + "/mutex");
        readers_share(client, path + "/rw");
        a_hold_moves(client, path + "/hold");
        a_latch_leads(client, path + "/latch");
        deadlines_have_no_limits(client, path + "/deadline");
    }
    a_loss_is_told(argv[1], path + "/loss");
    a_client_moves(argv[1], path + "/client");
    a_client_is_replaced(argv[1], path + "/replaced");
    return failures != 0;
} catch (const std::exception &e) {
    std::printf("%s\n", e.what());
    return 1;
}
