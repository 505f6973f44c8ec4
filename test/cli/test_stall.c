/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, revocations and losses take effect even if no process reads zkr's output. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "keep.h"

/* --- a reader that stalls --- */

enum { PAGE = 4096 };

/* A pipe of one page. */
struct reader {
    int ends[2];
    char name[32]; /* the name by which a process opens it for writing */
};

static void reader_close(void *r)
{
    zkt_pipe_close(((struct reader *)r)->ends);
}

/* Kept: closed at the end of the case. */
static void reader_open(struct reader *r)
{
    zkt_pipe(r->ends);
    zkt_keep(r, reader_close);
    assert_true(fcntl(r->ends[1], F_SETPIPE_SZ, PAGE) >= 0);
    assert_int_equal(fcntl(r->ends[1], F_SETFL, O_NONBLOCK), 0);
    (void)snprintf(r->name, sizeof(r->name), "/proc/%d/fd/%d", (int)getpid(),
                   r->ends[1]);
}

static bool reader_is_full(const struct reader *r)
{
    struct pollfd fd = {.fd = r->ends[1], .events = POLLOUT};
    return poll(&fd, 1, 0) == 0;
}

/* Fills the pipe except for @room bytes. */
static void reader_fill(const struct reader *r, size_t room)
{
    static const char dots[PAGE];
    assert_int_equal(write(r->ends[1], dots, PAGE - room), (ssize_t)(PAGE - room));
}

static void reader_read(const struct reader *r)
{
    char page[PAGE];
    assert_true(read(r->ends[0], page, sizeof(page)) > 0);
}

/* Starts zkr with the stderr ("2") or the stdout ("") connected to the reader. */
#define START(c, fd, r, ...)                                                           \
    cli_spawn((c), true,                                                               \
              (const char *const[]){"sh", "-c",                                        \
                                    "n=$1; shift; exec \"$0\" \"$@\" " fd ">$n",       \
                                    cli_zkr(), (r)->name, __VA_ARGS__, NULL})

/* --- stderr --- */

struct scene {
    struct reader reader;
    char path[256];
    struct cli c;
    struct cli_beat *beat;
};

/* The command floods stderr. It may therefore fill the pipe just after zkr has seen room in it. */
static void
hold_flooded(struct scene *s, int number, zkt_proxy *proxy, const char *on_revoke)
{
    static const char flood[] = "yes >&2 & exec \"$@\"";
    (void)snprintf(s->path, sizeof(s->path), "%s/%d", zkt_path(), number);
    reader_open(&s->reader);
    s->beat = cli_beats(1);
    START(&s->c, "2", &s->reader, "-v", "-v", "-t", "20000", "-z",
          zkt_proxy_host(proxy), "lock", "--on-revoke", on_revoke, s->path, "sh", "-c",
          flood, "sh", CLI_BEAT(s->beat, "plain"));
    cli_beat_wait(&s->c, s->beat);
    ZKT_EVENTUALLY(reader_is_full(&s->reader), CLI_PATIENCE_MS);
}

static bool is_dead(const struct scene *s)
{
    return kill((pid_t)atomic_load(&s->beat->pid), 0) != 0;
}

enum { SCENES = 3, SOON_MS = 3000 };

/* zkr writes its line about the revocation when there is room. */
ZKT_CASE(a_full_stderr_keeps_no_command_from_being_revoked)
{
    static struct scene scenes[SCENES];
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    for (int i = 0; i < SCENES; i++) {
        hold_flooded(&scenes[i], i, proxy, "term");
    }
    for (int i = 0; i < SCENES; i++) {
        assert_int_equal(CLI("revoke", scenes[i].path), 0);
        zkt_sleep_ms(20); /* time for zkr to wait for room */
        reader_read(&scenes[i].reader);
    }
    for (int i = 0; i < SCENES; i++) {
        assert_int_equal(cli_wait(&scenes[i].c), 143);
    }
}

/* The log reports connections that come and go. Then the reader stalls, and an administrator deletes the node. */
ZKT_CASE(a_full_stderr_keeps_no_command_alive_after_a_loss)
{
    enum { CUTS = 10, PAGES = 10 };
    static struct scene scenes[SCENES];
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    for (int i = 0; i < SCENES; i++) {
        hold_flooded(&scenes[i], i, proxy, "ignore");
    }
    for (int n = 0; n < CUTS; n++) {
        zkt_proxy_drop_connections(proxy);
        for (int page = 0; page < PAGES; page++) {
            for (int i = 0; i < SCENES; i++) {
                reader_read(&scenes[i].reader);
            }
            zkt_sleep_ms(5);
        }
    }
    for (int i = 0; i < SCENES; i++) {
        assert_int_equal(CLI("revoke", "--force", "-w", "0", scenes[i].path), 0);
        ZKT_EVENTUALLY(is_dead(&scenes[i]), SOON_MS);
    }
    for (int i = 0; i < SCENES; i++) {
        assert_int_equal(cli_wait(&scenes[i].c), 79);
    }
}

/* --- stdout --- */

/* A node tells when its hold began, some time after the grant. */
static bool is_held(void)
{
    char node[256], text[512] = "";
    zkt_stat at;
    zkt_lone_node(node, sizeof(node));
    return zkt_get(zkt_servers(), node, text, sizeof(text) - 1, &at) == ZKT_OK &&
           strstr(text, "held_since_ms");
}

/* The holder line finds no room. A signal or the end of the lease still ends zkr. */
ZKT_CASE(a_full_stdout_keeps_no_holder_from_its_end)
{
    static struct reader reader;
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    reader_open(&reader);
    reader_fill(&reader, 0);
    for (int lost = 0; lost < 2; lost++) {
        START(&c, "", &reader, "-t", "4000", "-z", zkt_proxy_host(proxy), "lock",
              zkt_path());
        ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
        if (lost) {
            ZKT_EVENTUALLY(is_held(), CLI_PATIENCE_MS);
            zkt_proxy_blackhole(proxy);
            assert_int_equal(cli_wait(&c), 79);
            cli_assert_one_line(&c);
        } else {
            cli_stop(&c, SIGTERM);
        }
    }
}

/* The holder line is written even if the input has already ended. */
ZKT_CASE(the_holder_line_comes_before_the_end)
{
    const char *said = CLI_SAYS("lock", zkt_path());
    assert_int_equal(strncmp(said, "node=", 5), 0);
    assert_non_null(strchr(said, '\n'));
}
