/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, sockets, four-letter words and failures. @hosts is a connection string, "host:port[,host:port...][/chroot]". A
 * @deadline is a time of zkr__test_now_ms().
 */
#ifndef ZKR_TESTING_NET_H
#define ZKR_TESTING_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Records a failure of the calling thread for zkr_last_error(), and returns @code. @sys_errno is 0 if there is none. */
int zkr__test_fail(int code, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the milliseconds of CLOCK_MONOTONIC. */
int64_t zkr__test_now_ms(void);
void zkr__test_sleep_ms(int64_t ms);

/* Writes entry @index of @hosts as "host:port". Returns false if there is no such entry. */
bool zkr__test_host_at(const char *hosts, int index, char *out, size_t size);

/* Returns the "/chroot" at the end of @hosts, or "". */
const char *zkr__test_chroot(const char *hosts);

struct sockaddr_in;
/* Resolves @host, "host:port", to its first address. */
bool zkr__test_resolve(const char *host, struct sockaddr_in *out);

/* Connects by TCP to the first of @hosts that accepts. Returns a non-blocking, close-on-exec descriptor, or -1. */
int zkr__test_connect(const char *hosts, int64_t deadline);

/* Waits for one of the poll() @events on @fd. Returns false after @deadline. */
bool zkr__test_ready(int fd, short events, int64_t deadline);

/* These write or read all @size bytes. They return false on an error or after @deadline. */
bool zkr__test_write_all(int fd, const void *data, size_t size, int64_t deadline);
bool zkr__test_read_all(int fd, void *data, size_t size, int64_t deadline);

/* Returns the number of bytes read, 0 at the end of the stream, or -1 on an error or after @deadline. */
ssize_t zkr__test_read_some(int fd, void *data, size_t size, int64_t deadline);

/*
 * Listens at @address, an IPv4 address. If *@port is 0, chooses a free port and stores it there. The chosen port is
 * below the range for outgoing connections. So no outgoing connection can take it while its server is down, and no
 * client that keeps trying can connect to itself. Returns the descriptor, or a negative error code with
 * zkr_last_error() set.
 */
int zkr__test_listen(const char *address, int *port);

enum zkr__test_mode {
    ZKR__TEST_NONE, /* down, frozen, or not serving */
    ZKR__TEST_STANDALONE,
    ZKR__TEST_LEADER,
    ZKR__TEST_FOLLOWER,
    ZKR__TEST_OBSERVER
};

/* Sends a four-letter word to the first of @hosts. Returns the answer, which the caller frees, or NULL. */
char *zkr__test_ask(const char *hosts, const char *word, int64_t timeout_ms);
enum zkr__test_mode zkr__test_mode(const char *hosts, int64_t timeout_ms);

#endif
