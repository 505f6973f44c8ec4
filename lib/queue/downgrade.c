/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the pure step that turns a writer into a reader (enum zkr__downgrade). */
#include <zkr/client.h>

#include "queue/claim_state.h"

/*
 * Send the downgrade, or send it again, if there is a connection. Answers to earlier requests are dropped, because they
 * are about the WRIT node, or arrive after the downgrade.
 */
unsigned zkr__downgrade_again(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    k->round++;
    k->own = ZKR__OWN_NONE;
    if (!e->connected) {
        k->downgrade = ZKR__DOWNGRADE_OWED;
        return 0;
    }
    if (k->version < 0 && !k->unchecked) {
        /* The data are read first. They may be a revocation request, which the downgrade would delete. */
        k->downgrade = ZKR__DOWNGRADE_READS;
        k->own = ZKR__OWN_ASKED;
        return ZKR__DO_GET_OWN;
    }
    k->downgrade = ZKR__DOWNGRADING;
    return ZKR__DO_DOWNGRADE;
}

/*
 * Readers may hold from now on, so notify the claims of this client behind us at once. A claim that may not hold beside
 * a reader stays behind our node, under either name. A writer lists after the transaction.
 */
unsigned zkr__on_downgrade(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || k->downgrade != ZKR__SETTLED) {
        return 0;
    }
    return zkr__downgrade_again(k, e) | ZKR__DO_STEP_ASIDE;
}

/* From now on, our node is the READ node. No other client has changed its data yet. */
static void end_downgrade(struct zkr__claim_state *k)
{
    k->downgrade = ZKR__SETTLED;
    k->revocation = k->told = k->version = 0;
    k->metadata = ZKR__METADATA_WRITTEN; /* written by the create */
}

/* Send the downgrade after a pause or, without a connection, after the next connection. */
static unsigned owe_downgrade(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    k->own = ZKR__OWN_NONE;
    k->downgrade = ZKR__DOWNGRADE_OWED;
    return e->connected ? ZKR__DO_RETRY : 0;
}

unsigned zkr__on_downgraded(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e)
{
    if (k->downgrade != ZKR__DOWNGRADING) {
        return 0;
    }
    if (e->refused && e->code == ZKR__OTHER_VERSION) {
        /* The data are read to learn their version, now or after the next connection. */
        k->version = -1;
        return zkr__downgrade_again(k, e);
    }
    if (e->code == ZKR_OK || e->refused) {
        k->round++;
        if (e->refused) { /* our node is still the WRIT node */
            k->downgrade = ZKR__SETTLED;
        } else {
            end_downgrade(k);
        }
        return ZKR__DO_QUIET;
    }
    if (e->code == ZKR_ENONODE && e->connected) {
        /* There is no WRIT node. Either an earlier request succeeded, or our node was deleted. */
        k->own = ZKR__OWN_ASKED;
        return ZKR__DO_GET_OWN;
    }
    return owe_downgrade(k, e);
}

/* Handles a get of the READ node during the downgrade. */
static unsigned reader_read(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e)
{
    if (e->code == ZKR_OK && e->ours) {
        k->own = e->unwatched ? ZKR__OWN_SEEN : ZKR__OWN_SET;
        end_downgrade(k);
        k->revocation = e->revocation;
        return zkr__heed(k, e);
    }
    if (e->code == ZKR_OK) {
        return zkr__not_past(zkr__lose(k, e, ZKR_LOST_NODE));
    }
    return e->code == ZKR_ENONODE ? zkr__lose(k, e, ZKR_LOST_NODE)
                                  : owe_downgrade(k, e);
}

/* Handles a get of the WRIT node. If the servers refuse to show the node, the downgrade deletes it at any version. */
static unsigned writer_read(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e)
{
    if (e->code == ZKR_ENONODE || (e->code == ZKR_OK && !e->ours)) {
        unsigned todo = zkr__lose(k, e, ZKR_LOST_NODE);
        return e->code == ZKR_OK ? zkr__not_past(todo) : todo;
    }
    k->unchecked = !zkr__worth_repeating(e->code) && e->code != ZKR_OK;
    if (e->code != ZKR_OK) {
        return owe_downgrade(k, e);
    }
    k->version = e->version;
    k->revocation = e->revocation;
    unsigned told = zkr__heed(k, e) & ~(unsigned)ZKR__DO_RESTORE;
    return told | zkr__downgrade_again(k, e);
}

unsigned zkr__on_got_downgrading(struct zkr__claim_state *k,
                                 const struct zkr__claim_event *e)
{
    return k->downgrade == ZKR__DOWNGRADE_READS ? writer_read(k, e) : reader_read(k, e);
}
