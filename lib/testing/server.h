/* SPDX-License-Identifier: Apache-2.0 */
/* One server process; ensemble.c says which are started, and how they are configured. */
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
    pid_t owner; /* the process that started it */
    pid_t pid;   /* 0 while it does not run */
    int index;   /* in its ensemble, or -1 */
    bool frozen;
    int port;
    int quorum_port;
    int election_port;
    zkr_test_server_options options; /* defaults filled in */
    char jvm_arguments[256];
    char host[32];
    char dir[200];
};

/*
 * A server not launched yet, with its directory and its ports. @fds receives the sockets that keep the
 * ports taken, or -1; the caller closes them right before the launch.
 */
int zkr__test_server_create(zkr_test_server **out,
                            const zkr_test_server_options *o,
                            int index,
                            int fds[3]);

/* Kill it, remove its directory, free it. */
void zkr__test_server_destroy(zkr_test_server *s);

/* ---- files.c ---- */

/* A variable that is set, and not empty; or NULL. */
const char *zkr__test_environment(const char *name);

/* A directory for it, from mkdtemp(); and its end. */
int zkr__test_make_dir(zkr_test_server *s);
void zkr__test_remove_tree(const char *dir);
const char *
zkr__test_in_dir(const zkr_test_server *s, const char *name, char *out, size_t size);

/* Append to a file of its directory. */
int zkr__test_server_write(const zkr_test_server *s,
                           const char *name,
                           const char *format,
                           ...) __attribute__((format(printf, 3, 4)));

/* Whether a line of its log contains @words, of less than 64 bytes. */
bool zkr__test_server_log_says(const zkr_test_server *s, const char *words);

/* Record that it does not serve, with what its log says of that; ZKR_ENOANSWER. */
int zkr__test_server_failed(const zkr_test_server *s);

/* ---- process.c ---- */

/* Guards which servers there are, and their processes. */
extern pthread_mutex_t zkr__test_servers;

/* The two halves of a start: launch, and wait until it serves. */
int zkr__test_server_launch(zkr_test_server *s);
bool zkr__test_server_wait(zkr_test_server *s, int64_t timeout_ms);

/* Whether the process has ended by itself; it is reaped then, unless the program has done so. */
bool zkr__test_server_has_ended(zkr_test_server *s);

/* Send a signal, and wait until it has stopped or ended it. ZKR_ESTATE when it does not run. */
int zkr__test_server_signal(zkr_test_server *s, int number);

/* ---- server.c and ensemble.c ---- */

/* Session timeouts that it grants from its next start on; 0 = as before. */
int zkr__test_server_limits(const zkr_test_server *s, int64_t min_ms, int64_t max_ms);

/* Delete the data of a server that does not run. */
int zkr__test_server_wipe(zkr_test_server *s);

/* Whether @pid is a server started here. */
bool zkr__test_server_knows(pid_t pid);

/* Index of the server that leads and is not frozen, or -1; asks once. @serving receives how many serve. */
int zkr__test_ensemble_survey(const zkr_test_ensemble *e, int *serving);

#endif
