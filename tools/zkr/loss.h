/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News of a lost hold. It comes on a thread of the library, which kills the command there and
 * then: whoever deletes a lock node by hand lets the next one in at once.
 */
#ifndef ZKR_CLI_LOSS_H
#define ZKR_CLI_LOSS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "why.h"

struct loss {
    int fd; /* readable once it is lost */
    pthread_mutex_t mu;
    pid_t group; /* of the command, 0 = there is none */
    bool known;
    struct why why; /* once it is */
};

/** False: out of descriptors. loss_end() may follow all the same. */
bool loss_begin(struct loss *l);

/** For another hold: nothing is lost yet. */
void loss_reset(struct loss *l);

/** From any thread: it is lost. Kills the group, and lets none start any more. */
void loss_tell(struct loss *l, const zkr_lost *lost);

/** Why it is lost. False: it is not. */
bool loss_why(struct loss *l, struct why *why);

/** fork() into a process group of its own; -1 with errno ECANCELED: it is lost. */
pid_t loss_fork(struct loss *l);

/** While it is locked no news comes through; to be used around waitpid(). */
void loss_lock(struct loss *l);
/** @gone: no process of the group is left, its number may be used again. */
void loss_unlock(struct loss *l, bool gone);

void loss_end(struct loss *l);

#endif
