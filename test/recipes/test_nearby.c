/* SPDX-License-Identifier: Apache-2.0 */
/* options.nearby: the hand-over between processes of one host, through sockets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "fixture.h"
#include "nearby/nearby.h"
#include "threads.h"

enum { SESSION_MS = 20000, PATIENCE_MS = 20000 };

static zkr_client *client(const char *hosts)
{
    return ZKT_CLIENT_WITH(hosts, .session_timeout_ms = SESSION_MS, .nearby = 1);
}

/* --- a holder in another process --- */

static struct other {
    const char *hosts;
    int go[2], done[2];
} other;

static void expect_byte(int fd)
{
    assert_int_equal(zkt_get_byte(fd, PATIENCE_MS), 'x');
}

static int hold(void *unused)
{
    zkr_client *c = client(other.hosts);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_put_byte(other.done[1], 'x');
    expect_byte(other.go[0]);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_put_byte(other.done[1], 'x');
    expect_byte(other.go[0]);
    zkt_destroy(m);
    zkt_close(c);
    return 0;
}

/* The delete is held up before it reaches the server. The next process is granted nevertheless. */
ZKT_CASE(a_hand_over_between_processes_waits_for_no_server)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    other.hosts = zkt_proxy_host(proxy);
    zkt_pipe(other.go);
    zkt_pipe(other.done);
    pid_t pid = zkt_fork(hold, NULL);
    expect_byte(other.done[0]);
    zkr_client *c = client(zkt_servers());
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor waiter;
    zkt_actor_queue(&waiter, c, m, NULL);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
    zkt_put_byte(other.go[1], 'x');
    expect_byte(other.done[0]);
    ZKT_MUST(zkt_actor_acquired(&waiter));
    assert_int_equal(zkt_nodes(), 2);
    ZKT_MUST(zkt_actor_end(&waiter));
    zkt_proxy_heal(proxy);
    zkt_put_byte(other.go[1], 'x');
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
    zkt_pipe_close(other.go);
    zkt_pipe_close(other.done);
}

/* --- the socket --- */

static struct inbox {
    struct zkr__mailbox_owner owner;
    struct zkr__near_address self, from;
    atomic_int came;
    char text[64];
} inbox;

static void take(struct zkr__mailbox_owner *owner,
                 const struct zkr__near_address *from,
                 const void *letter,
                 size_t len)
{
    struct inbox *box = (struct inbox *)owner;
    box->from = *from;
    assert_true(len < sizeof(box->text));
    memcpy(box->text, letter, len);
    atomic_fetch_add(&box->came, 1);
}

static void ignore(struct zkr__mailbox_owner *owner,
                   const struct zkr__near_address *from,
                   const void *letter,
                   size_t len)
{
}

/* Send a message from another process, and report the address of its socket. */
static int write_there(void *unused)
{
    struct zkr__mailbox_owner owner = {.take = ignore};
    struct zkr__near_address self;
    void *box = zkr__mailbox.open(&owner, &self);
    if (!box || write(other.done[1], &self, sizeof(self)) != (ssize_t)sizeof(self)) {
        return 1;
    }
    zkr__mailbox.send(box, &inbox.self, "hello", 6);
    zkr__mailbox.close(box);
    return 0;
}

/* The address of a message shows its sender, as certified by the kernel. */
ZKT_CASE(a_letter_has_its_sender)
{
    struct zkr__near_address said;
    inbox = (struct inbox){.owner = {.take = take}};
    void *box = zkr__mailbox.open(&inbox.owner, &inbox.self);
    assert_non_null(box);
    zkt_pipe(other.done);
    pid_t pid = zkt_fork(write_there, NULL);
    assert_int_equal(read(other.done[0], &said, sizeof(said)), sizeof(said));
    ZKT_EVENTUALLY(atomic_load(&inbox.came) == 1, PATIENCE_MS);
    assert_string_equal(inbox.text, "hello");
    assert_string_equal(inbox.from.text, said.text);
    char who[ZKR__NEAR_WHO + 1];
    (void)snprintf(who, sizeof(who), "%08x%08x", (unsigned)getuid(), (unsigned)pid);
    assert_memory_equal(inbox.from.text + ZKR__NEAR_HOST, who, ZKR__NEAR_WHO);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
    zkr__mailbox.close(box);
    zkt_pipe_close(other.done);
}

static int write_by_hand(void *box)
{
    zkr__mailbox.send(box, &inbox.self, "child", 6);
    return 0;
}

/* A forked child has the same socket, but counts as another process. */
ZKT_CASE(a_forked_child_is_another_process)
{
    inbox = (struct inbox){.owner = {.take = take}};
    void *box = zkr__mailbox.open(&inbox.owner, &inbox.self);
    assert_non_null(box);
    pid_t pid = zkt_fork(write_by_hand, box);
    ZKT_EVENTUALLY(atomic_load(&inbox.came) == 1, PATIENCE_MS);
    assert_string_not_equal(inbox.from.text, inbox.self.text);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
    zkr__mailbox.close(box);
}

static int threads(void)
{
    return zkt_threads_named("zkr-nearby", NULL, NULL);
}

/* A client that cannot be opened, for a reason outside this option, leaves no thread. */
ZKT_CASE(a_client_that_fails_leaves_no_thread)
{
    zkr_client *c = NULL;
    const zkr_client_options o = {
        .size = sizeof(o), .nearby = 1, .guardian = ZKR_GUARDIAN_REQUIRED};
    (void)setenv("ZKR_GUARDIAN_PATH", "/nowhere/zkr-guardian", 1);
    assert_int_not_equal(zkr_client_open(&c, zkt_servers(), &o), ZKR_OK);
    ZKT_BECOMES(threads(), 0, PATIENCE_MS);
}

static bool is_mailbox(int fd)
{
    struct sockaddr_un name = {0};
    socklen_t len = sizeof(name);
    return getsockname(fd, (struct sockaddr *)&name, &len) == 0 &&
           name.sun_family == AF_UNIX && len > sizeof(name.sun_family) + 10 &&
           memcmp(name.sun_path + 1, "zkrecipes-", 10) == 0;
}

/* The application closes the descriptor and reuses its number. zkr_client_close() returns nevertheless. */
ZKT_CASE(a_descriptor_that_is_closed_stops_nobody)
{
    enum { MOST = 256 };
    int fd = 3;
    zkt_pipe(other.go);
    zkr_client *c = client(zkt_servers());
    ZKT_BECOMES(threads(), 1, PATIENCE_MS);
    while (fd < MOST && !is_mailbox(fd)) {
        fd++;
    }
    /* The thread sanitizer would report dup2(), although the case is about exactly this. */
    assert_int_equal(syscall(SYS_dup3, other.go[0], fd, 0), fd);
    zkt_close(c);
    assert_int_equal(threads(), 0);
    assert_int_equal(close(fd), 0); /* the client has not closed it */
    zkt_pipe_close(other.go);
}
