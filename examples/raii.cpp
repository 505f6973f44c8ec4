/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raii SERVERS PATH N: N pieces of work under the lock at PATH, in C++17. The lock is a value: its
 * scope ends the hold, it can be moved to another thread, and what goes wrong is an exception. It
 * says "work I token TOKEN" for each.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include <zkr/zkr.h>

namespace
{

using std::chrono::milliseconds;

void must(int rc)
{
    if (rc != ZKR_OK) {
        throw std::runtime_error(zkr_last_error()->message);
    }
}

struct Delete {
    void operator()(zkr_client *c) const
    {
        zkr_client_close(c);
    }
    void operator()(zkr_mutex *m) const
    {
        zkr_mutex_destroy(m);
    }
    /* The end of a scope gives up the place in the queue, or the hold. */
    void operator()(zkr_ticket *t) const
    {
        zkr_ticket_release(t);
        zkr_ticket_destroy(t);
    }
};

/* An object from one of the library's functions that store it in their first argument. */
template <typename T, typename Create, typename... Args>
std::unique_ptr<T, Delete> make(Create create, Args... args)
{
    T *object = nullptr;
    must(create(&object, args...));
    return std::unique_ptr<T, Delete>(object);
}

/* A hold that any thread may own: std::lock_guard's shape with a deadline and a token. */
class Hold
{
  public:
    Hold(zkr_mutex &m, milliseconds patience)
    {
        zkr_ticket *t = nullptr;
        must(zkr_mutex_request(&m, patience.count(), nullptr, nullptr, &t));
        ticket_.reset(t);
        must(zkr_ticket_wait(t, ZKR_FOREVER)); /* the request has the timeout */
        must(zkr_ticket_fencing_token(t, &token_));
    }
    std::int64_t token() const
    {
        return token_;
    }
    /* Is what takes so long sure to end within the hold? */
    bool covers(milliseconds work) const
    {
        std::int64_t left = zkr_ticket_valid_for_ms(ticket_.get());
        return left == ZKR_UNKNOWN || left > work.count();
    }
    /* The end of the scope does this, too, but cannot say that the hold had been lost. */
    void release()
    {
        must(zkr_ticket_release(ticket_.get()));
    }

  private:
    std::unique_ptr<zkr_ticket, Delete> ticket_;
    std::int64_t token_ = 0;
};

void work(int i, Hold hold)
{
    if (hold.covers(milliseconds(20))) { /* a write to a store that checks the token */
        std::printf("work %d token %lld\n", i, static_cast<long long>(hold.token()));
    }
    hold.release();
}

} // namespace

int main(int argc, char **argv)
try {
    if (argc != 4) {
        std::fputs("usage: raii SERVERS PATH N\n", stderr);
        return 64;
    }
    auto client = make<zkr_client>(zkr_client_open, argv[1], nullptr);
    auto mutex = make<zkr_mutex>(zkr_mutex_create, client.get(), argv[2], nullptr);
    for (int i = 0; i < std::atoi(argv[3]); i++) {
        /* This thread waits, and another one works. */
        Hold hold(*mutex, std::chrono::seconds(30));
        std::async(std::launch::async, work, i, std::move(hold)).get();
    }
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "raii: %s\n", e.what());
    return 1;
}
