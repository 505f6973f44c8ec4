/* SPDX-License-Identifier: Apache-2.0 */
/* One server process. ensemble.c starts and configures servers. */
#ifndef ZKR_TESTING_SERVER_H
#define ZKR_TESTING_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <zkr/testing.h>

enum { ZKR__TEST_START_MS = 60000, ZKR__TEST_START_TRIES = 4 };

struct zkr_test_server {
    zkr_test_server *next;
    pid_t owner; /* the process that started the server */
    pid_t pid;   /* 0 while the server does not run */
    int index;   /* index in its ensemble, or -1 */
    bool frozen;
    int port;
    int quorum_port;
    int election_port;
    zkr_test_server_options options; /* with the defaults filled in */
    char jvm_arguments[256];
    char host[32];
    char dir[200];
};

/*
 * Creates a server with its directory and its ports, but does not launch it. @fds receives the sockets that reserve the
 * ports, or -1. The caller closes these sockets right before the launch.
 */
int zkr__test_server_create(zkr_test_server **out,
                            const zkr_test_server_options *o,
                            int index,
                            int fds[3]);

/* Kills the server, removes its directory, and frees it. */
void zkr__test_server_destroy(zkr_test_server *s);

/* ---- files.c ---- */

/* Returns an environment variable, or NULL if it is unset or empty. */
const char *zkr__test_environment(const char *name);

/* These create a directory with mkdtemp(), and remove a directory. */
int zkr__test_make_dir(zkr_test_server *s);
void zkr__test_remove_tree(const char *dir);
const char *
zkr__test_in_dir(const zkr_test_server *s, const char *name, char *out, size_t size);

/* Appends to a file in the server's directory. */
int zkr__test_server_write(const zkr_test_server *s,
                           const char *name,
                           const char *format,
                           ...) __attribute__((format(printf, 3, 4)));

/* Returns whether a line of the server's log contains @words (less than 64 bytes). */
bool zkr__test_server_log_says(const zkr_test_server *s, const char *words);

/* Records that the server does not serve, with an error from its log. Returns ZKR_ENOANSWER. */
int zkr__test_server_failed(const zkr_test_server *s);

/* ---- process.c ---- */

/* Guards the list of servers, and their processes. */
extern pthread_mutex_t zkr__test_servers;

/* The two halves of a start. The first launches the process, and the second waits until it serves. */
int zkr__test_server_launch(zkr_test_server *s);
bool zkr__test_server_wait(zkr_test_server *s, int64_t timeout_ms);

/* Returns whether the process has exited on its own. If so, reaps it, unless the program has reaped it. */
bool zkr__test_server_has_ended(zkr_test_server *s);

/* Sends a signal, and waits until it has taken effect. Fails with ZKR_ESTATE if the server does not run. */
int zkr__test_server_signal(zkr_test_server *s, int number);

/* ---- server.c and ensemble.c ---- */

/* Sets the session timeouts that the server grants after its next start. 0 = unchanged. */
int zkr__test_server_limits(const zkr_test_server *s, int64_t min_ms, int64_t max_ms);

/* Deletes the data of a server that does not run. */
int zkr__test_server_wipe(zkr_test_server *s);

/* Returns whether this program has started the server @pid. */
bool zkr__test_server_knows(pid_t pid);

/*
 * Queries each server once. Returns the index of the leader if it is not frozen, or -1. Sets *@serving to the number of
 * servers that serve.
 */
int zkr__test_ensemble_survey(const zkr_test_ensemble *e, int *serving);

#endif
