/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file zkr.hpp
 * The library for C++17 and later, with RAII classes, durations of std::chrono, and exceptions.
 *
 * This wrapper consists only of this header. The C headers describe the wrapped functions. get() returns the C handle,
 * for functions that are not wrapped.
 *
 * **Errors** are exceptions of type zkr::error. Their code() compares with std::errc, and with ZKR_E… codes through
 * zkr::make_error_code(). Destructors and unlock() do not throw; release(), on_lost and valid_for() report a lost hold.
 *
 * **Callbacks** are std::functions and run on the client's dispatch thread. An exception that leaves a callback ends
 * the program, as in a std::thread, because a holder that cannot be notified of its loss must not continue.
 *
 * **Lifetime.** A client must outlive all objects that were created with it, and a lock must outlive its holds.
 */
#ifndef ZKR_ZKR_HPP
#define ZKR_ZKR_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <zkr/zkr.h>

namespace zkr
{

using std::chrono::milliseconds;

/** A wait without a limit. */
inline constexpr milliseconds forever = milliseconds::max();
/** Returned by valid_for() when the client's probes are turned off. Negative, so no work fits into this time. */
inline constexpr milliseconds unknown{ZKR_UNKNOWN};

/** The category of ZKR_E… codes. */
inline const std::error_category &category() noexcept
{
    struct zkr_category final : std::error_category {
        const char *name() const noexcept override { return "zkr"; }
        std::string message(int code) const override { return zkr_strerror(code); }
        std::error_condition default_error_condition(int code) const noexcept override
        {
            return code == ZKR_ETIMEDOUT ? std::errc::timed_out
                   : code == ZKR_EAUTH   ? std::errc::permission_denied
                   : code == ZKR_EINVAL  ? std::errc::invalid_argument
                   : code == ZKR_ENOMEM  ? std::errc::not_enough_memory
                                         : std::error_condition(code, *this);
        }
    };
    static const zkr_category it;
    return it;
}

/** @code  one of ZKR_E…. */
inline std::error_code make_error_code(int code) noexcept
{
    return {code, category()};
}

/** A failed call. what() returns the message of the library: what happened, and what to do. */
class error : public std::system_error
{
  public:
    explicit error(int code)
        : std::system_error(make_error_code(code)), text_(zkr_last_error()->message)
    {
    }
    const char *what() const noexcept override { return text_.what(); }

  private:
    std::runtime_error text_; /* copies without throwing */
};

/** The longest time for a call: any duration, rounded up. 0 or less = a try; a thousand years or more = no limit. */
struct limit {
    template <typename Rep, typename Period>
    limit(const std::chrono::duration<Rep, Period> &time)
        : ms(!(time > time.zero()) ? 0
             : std::chrono::duration<double, std::milli>(time).count() > 3e13
                 ? ZKR_FOREVER
                 : std::chrono::ceil<milliseconds>(time).count())
    {
    }
    std::int64_t ms;
};

namespace detail
{

/* The time until @deadline, computed in double seconds if the deadline is distant, because ticks would overflow. */
template <typename Clock, typename Duration>
limit until(const std::chrono::time_point<Clock, Duration> &deadline)
{
    using seconds = std::chrono::duration<double>;
    constexpr seconds far{1e9};
    const auto now = Clock::now();
    const seconds left =
        seconds(deadline.time_since_epoch()) - seconds(now.time_since_epoch());
    return left < far && left > -far ? limit(deadline - now) : limit(left);
}

inline void must(int rc)
{
    if (rc != ZKR_OK) {
        throw error(rc);
    }
}

/* Returns true if an acquire has the lock, false at its deadline. Throws on other errors. */
inline bool obtained(int rc)
{
    if (rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER) {
        return false;
    }
    if (rc != ZKR_EOWNERDEAD) {
        must(rc);
    }
    return true;
}

template <typename Handle>
std::int64_t token_of(int (*get)(Handle *, std::int64_t *), Handle *handle)
{
    std::int64_t token = 0;
    must(get(handle, &token));
    return token;
}

/* Returns a path or id. The buffer has room for the longest that the library returns. */
template <typename Handle>
std::string text_of(int (*get)(Handle *, char *, std::size_t), Handle *handle)
{
    std::string text(1 << 17, '\0');
    must(get(handle, text.data(), text.size()));
    text.resize(std::char_traits<char>::length(text.c_str()));
    return text;
}

template <typename T, typename Create, typename... Args>
T *made(Create create, Args... args)
{
    T *object = nullptr;
    must(create(&object, args...));
    return object;
}

/* A deleter that calls a destroy function of the library. */
template <auto Destroy> struct deleter {
    template <typename T> void operator()(T *object) const noexcept
    {
        (void)Destroy(object);
    }
};

/* Calls the callback @member of @options, if it is set. */
template <typename Options, typename Fn, typename... Args>
void call(void *options, Fn Options::*member, const Args &...args) noexcept
{
    if (const Fn &fn = static_cast<Options *>(options)->*member) {
        fn(args...);
    }
}

/* C options of a lock, with C++ callbacks. */
template <typename Options> struct lock_options : Options {
    explicit lock_options(const Options &init) : Options(init) {}
    std::function<void(const zkr_lost &)> on_lost;
    std::function<void()> on_revoke; /* if set, the node is watched */
    /* needs warn_ms */
    std::function<void(std::int64_t fencing_token, std::int64_t left_ms)> on_warn;

    const Options *wired() noexcept
    {
        using self = lock_options;
        this->on_lost_ctx = this->on_revoke_ctx = this->on_warn_ctx = this;
        Options::on_lost = [](zkr_mutex *, const zkr_lost *lost, void *o) noexcept {
            call(o, &self::on_lost, *lost);
        };
        zkr_mutex_revoke_fn revoke = [](zkr_mutex *, void *o) noexcept {
            call(o, &self::on_revoke);
        };
        Options::on_revoke = on_revoke ? revoke : nullptr;
        zkr_mutex_warn_fn warn = [](zkr_mutex *, std::int64_t token, std::int64_t left,
                                    void *o) noexcept {
            call(o, &self::on_warn, token, left);
        };
        Options::on_warn = on_warn ? warn : nullptr;
        return this;
    }
};

} // namespace detail

/** zkr_client_options with C++ callbacks. */
struct client_options : zkr_client_options {
    client_options() : zkr_client_options ZKR_CLIENT_OPTIONS_INIT {}
    std::function<void(int state)> on_state;
    std::function<void(int level, const char *line)> log;

    const zkr_client_options *wired() noexcept
    {
        using self = client_options;
        on_state_ctx = log_ctx = this;
        zkr_client_options::on_state = [](zkr_client *, int state, void *o) noexcept {
            detail::call(o, &self::on_state, state);
        };
        zkr_log_fn write = [](int level, const char *line, void *o) noexcept {
            detail::call(o, &self::log, level, line);
        };
        zkr_client_options::log = log ? write : nullptr;
        return this;
    }
};

/** A connection that outlives its sessions. A client may be moved. */
class client
{
  public:
    /** Does not wait for a server. @servers as in zkr_client_open(). */
    explicit client(const std::string &servers, client_options options = {})
        : options_(std::make_unique<client_options>(std::move(options))),
          client_(detail::made<zkr_client>(zkr_client_open,
                                           servers.c_str(),
                                           options_->wired()))
    {
    }

    client(client &&) noexcept = default;
    /** First closes the replaced client, whose last callbacks need its options. */
    client &operator=(client &&other) noexcept
    {
        client_ = std::move(other.client_);
        options_ = std::move(other.options_);
        return *this;
    }

    zkr_client *get() const noexcept { return client_.get(); }
    /** The time from now for which the session is guaranteed to be alive. */
    milliseconds valid_for() const
    {
        return milliseconds(zkr_client_valid_for_ms(get()));
    }
    /** Wait until the deletion of all released nodes is confirmed. Returns false after the timeout. */
    bool flush(limit time)
    {
        return detail::obtained(zkr_client_flush(get(), time.ms));
    }
    /** End the session, and wait until the deletion of all nodes is confirmed. Returns false after the timeout. */
    bool finish(limit time)
    {
        return detail::obtained(zkr_client_finish(get(), time.ms));
    }
    /** Move to another server, with all holds, after a random pause of at most 10 s. */
    void rebalance() { detail::must(zkr_client_rebalance(get())); }
    /** End every wait on the client, and keep all holds. */
    void shutdown() { detail::must(zkr_client_shutdown(get())); }

  private:
    std::unique_ptr<client_options> options_; /* outlives the callbacks */
    std::unique_ptr<zkr_client, detail::deleter<zkr_client_close>> client_;
};

/** Locked by a thread: a mutex, a side of a shared_mutex, or a borrowed C handle. Meets TimedLockable. */
class lockable
{
  public:
    explicit lockable(zkr_mutex *m) noexcept : mutex_(m) {}
    lockable(const lockable &) = delete;
    lockable &operator=(const lockable &) = delete;

    void lock() { (void)lock_robust(); }
    /** lock(). True: options.robust is set, and the last holder ended without a release. */
    bool lock_robust()
    {
        int rc = zkr_mutex_acquire(mutex_, ZKR_FOREVER);
        if (rc != ZKR_EOWNERDEAD) {
            detail::must(rc);
        }
        return rc == ZKR_EOWNERDEAD;
    }
    bool try_lock() { return try_lock_for(milliseconds::zero()); }
    /** False: another contender holds the lock, or no server reported the holder in time. */
    bool try_lock_for(limit time)
    {
        return detail::obtained(zkr_mutex_acquire(mutex_, time.ms));
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &deadline)
    {
        return try_lock_for(detail::until(deadline));
    }
    void unlock() noexcept { (void)zkr_mutex_release(mutex_); }
    /** An unlock() that throws: ZKR_ESESSION if the hold had been lost. Call std::unique_lock::release() first. */
    void release() { detail::must(zkr_mutex_release(mutex_)); }

    /** The remaining lease of the calling thread's hold. 0 = not certain to be held. */
    milliseconds valid_for() const noexcept
    {
        return milliseconds(zkr_mutex_valid_for_ms(mutex_));
    }
    bool is_held() const noexcept { return zkr_mutex_is_held(mutex_); }
    std::int64_t fencing_token() const
    {
        return detail::token_of(zkr_mutex_fencing_token, mutex_);
    }
    std::int64_t pass() const { return detail::token_of(zkr_mutex_pass, mutex_); }
    std::string node() const { return detail::text_of(zkr_mutex_node, mutex_); }
    zkr_mutex *get() const noexcept { return mutex_; }

  protected:
    zkr_mutex *mutex_;
};

/** zkr_mutex_options with C++ callbacks. */
struct mutex_options : detail::lock_options<zkr_mutex_options> {
    mutex_options() : lock_options(zkr_mutex_options ZKR_MUTEX_OPTIONS_INIT) {}
};

/** A fair, re-entrant mutex across threads, processes and hosts, for std::unique_lock and similar classes. */
class mutex : public lockable
{
  public:
    mutex(client &c, const std::string &path, mutex_options options = {})
        : lockable(nullptr), options_(std::move(options))
    {
        mutex_ = detail::made<zkr_mutex>(zkr_mutex_create, c.get(), path.c_str(),
                                         options_.wired());
    }
    ~mutex() { (void)zkr_mutex_destroy(mutex_); }

  private:
    mutex_options options_;
};

/** zkr_rwlock_options with C++ callbacks. */
struct shared_mutex_options : detail::lock_options<zkr_rwlock_options> {
    shared_mutex_options() : lock_options(zkr_rwlock_options ZKR_RWLOCK_OPTIONS_INIT) {}
};

/** A fair read-write lock. std::unique_lock and similar classes lock the writer; std::shared_lock locks the reader. */
class shared_mutex : public lockable
{
  public:
    shared_mutex(client &c, const std::string &path, shared_mutex_options options = {})
        : lockable(nullptr), options_(std::move(options)),
          lock_(detail::made<zkr_rwlock>(zkr_rwlock_create,
                                         c.get(),
                                         path.c_str(),
                                         options_.wired())),
          reader_(zkr_rwlock_reader(lock_.get()))
    {
        mutex_ = zkr_rwlock_writer(lock_.get());
    }
    /** The reader side; the shared_mutex itself is the writer side. */
    lockable &reader() noexcept { return reader_; }

    void lock_shared() { reader_.lock(); }
    bool try_lock_shared() { return reader_.try_lock(); }
    bool try_lock_shared_for(limit time) { return reader_.try_lock_for(time); }
    template <typename Clock, typename Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &deadline)
    {
        return reader_.try_lock_until(deadline);
    }
    void unlock_shared() noexcept { reader_.unlock(); }

  private:
    shared_mutex_options options_;
    std::unique_ptr<zkr_rwlock, detail::deleter<zkr_rwlock_destroy>> lock_;
    lockable reader_;
};

/** A hold that no thread owns. It can move between threads; its destructor releases it. */
class hold
{
  public:
    /** Throws with ZKR_ETIMEDOUT or ZKR_ENOANSWER if @lock is not obtained within @patience. */
    explicit hold(lockable &lock, limit patience = forever)
    {
        zkr_ticket *ticket = nullptr;
        detail::must(
            zkr_mutex_request(lock.get(), patience.ms, nullptr, nullptr, &ticket));
        ticket_.reset(ticket);
        detail::must(
            zkr_ticket_wait(ticket, ZKR_FOREVER)); /* the request has the limit */
    }
    /** Takes over a ticket, for example of a semaphore or a multi-lock. */
    explicit hold(zkr_ticket *ticket) noexcept : ticket_(ticket) {}

    /** The remaining lease. 0 = not certain to be held. */
    milliseconds valid_for() const noexcept
    {
        return milliseconds(zkr_ticket_valid_for_ms(get()));
    }
    std::int64_t fencing_token() const
    {
        return detail::token_of(zkr_ticket_fencing_token, get());
    }
    std::int64_t pass() const { return detail::token_of(zkr_ticket_pass, get()); }
    std::string node() const { return detail::text_of(zkr_ticket_node, get()); }
    /** Release now. Throws with ZKR_ESESSION if the hold had been lost; the destructor cannot report this. */
    void release() { detail::must(zkr_ticket_release(get())); }
    zkr_ticket *get() const noexcept { return ticket_.get(); }

  private:
    struct give_up {
        void operator()(zkr_ticket *t) const noexcept
        {
            (void)zkr_ticket_release(t);
            (void)zkr_ticket_destroy(t);
        }
    };
    std::unique_ptr<zkr_ticket, give_up> ticket_;
};

/** zkr_leader_latch_options with C++ callbacks. */
struct leader_latch_options : zkr_leader_latch_options {
    leader_latch_options() : zkr_leader_latch_options ZKR_LEADER_LATCH_OPTIONS_INIT {}
    std::function<void(std::int64_t fencing_token)> on_gain;
    std::function<void(const zkr_lost &)> on_loss;
    std::function<void(std::error_code)> on_failed;
    /** Needs warn_ms. */
    std::function<void(std::int64_t fencing_token, std::int64_t left_ms)> on_warn;

    const zkr_leader_latch_options *wired() noexcept
    {
        using self = leader_latch_options;
        using c = zkr_leader_latch_options;
        ctx = this;
        c::on_gain = [](zkr_leader_latch *, std::int64_t token, void *o) noexcept {
            detail::call(o, &self::on_gain, token);
        };
        c::on_loss = [](zkr_leader_latch *, const zkr_lost *lost, void *o) noexcept {
            detail::call(o, &self::on_loss, *lost);
        };
        c::on_failed = [](zkr_leader_latch *, int code, void *o) noexcept {
            detail::call(o, &self::on_failed, make_error_code(code));
        };
        zkr_leader_latch_warn_fn warn = [](zkr_leader_latch *, std::int64_t token,
                                           std::int64_t left, void *o) noexcept {
            detail::call(o, &self::on_warn, token, left);
        };
        c::on_warn = on_warn ? warn : nullptr;
        return this;
    }
};

/** A candidate of an election. Its destructor leaves the election. */
class leader_latch
{
  public:
    leader_latch(client &c,
                 const std::string &path,
                 const std::string &id,
                 leader_latch_options options = {})
        : options_(std::move(options)),
          latch_(detail::made<zkr_leader_latch>(zkr_leader_latch_create,
                                                c.get(),
                                                path.c_str(),
                                                id.c_str(),
                                                options_.wired()))
    {
    }
    leader_latch(const leader_latch &) = delete;
    leader_latch &operator=(const leader_latch &) = delete;
    ~leader_latch()
    {
        (void)zkr_leader_latch_stop(latch_, ZKR_LATCH_SILENT);
        (void)zkr_leader_latch_destroy(latch_);
    }

    /** Become a candidate. Possible again after each stop. */
    void start() { detail::must(zkr_leader_latch_start(latch_)); }
    void stop(bool notify = false)
    {
        detail::must(zkr_leader_latch_stop(latch_, notify ? ZKR_LATCH_NOTIFY
                                                          : ZKR_LATCH_SILENT));
    }
    /** Set whether the latch may lead. An unfit latch is not a candidate. */
    void set_fit(bool fit) { detail::must(zkr_leader_latch_set_fit(latch_, fit)); }
    /** Wait until the latch leads. False: not in time. */
    bool await(limit time)
    {
        return detail::obtained(zkr_leader_latch_await(latch_, time.ms));
    }
    bool has_leadership() const noexcept
    {
        return zkr_leader_latch_has_leadership(latch_);
    }
    /** The time from now for which the latch is guaranteed to lead in the term with this token. 0 = not certain to
     * lead. */
    milliseconds valid_for(std::int64_t fencing_token) const noexcept
    {
        return milliseconds(zkr_leader_latch_term_valid_for_ms(latch_, fencing_token));
    }
    /** The time from now for which the latch is guaranteed to lead, in any term. 0 = not certain to lead, or on_loss
     * has not returned yet. */
    milliseconds valid_for() const noexcept
    {
        return milliseconds(zkr_leader_latch_valid_for_ms(latch_));
    }
    /** The token of the current term. Call this function when the work of the term begins. */
    std::int64_t fencing_token() const
    {
        return detail::token_of(zkr_leader_latch_fencing_token, latch_);
    }
    /** The id of the current leader, of any process. */
    std::string leader() const
    {
        return detail::text_of(zkr_leader_latch_leader, latch_);
    }
    zkr_leader_latch *get() const noexcept { return latch_; }

  private:
    leader_latch_options options_;
    zkr_leader_latch *latch_;
};

} // namespace zkr

#endif
