/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of schedules: a seed makes a scenario, clients of the real library live through it on
 * the fake ZooKeeper, and after every step what must always hold is checked.
 */
#ifndef ZKT_SEARCH_H
#define ZKT_SEARCH_H

#include <zkr/multi_lock.h>
#include <zkr/semaphore.h>

#include "engine/hold.h"
#include "fake.h"
#include "recipes/leader_latch.h"
#include "recipes/ticket.h"
#include "session/bound.h"
#include "session/open.h"
#include "session/request.h"
#include "session/service.h"

enum { SEARCH_CLIENTS = 4, SEARCH_CONTENDERS = 15, SEARCH_DIRS = 5 };
/* Contenders of DIR_LATCH are leader latches, those of the others claims, tickets, and parts of multi-locks. */
/* Those of DIR_PERMITS are tickets of a semaphore. */
enum { DIR_LOCK, DIR_LATCH, DIR_SECOND, DIR_THIRD, DIR_PERMITS };

/* What was there when a contender asked; that it is still there says that nothing took its place away. */
struct setting {
    bool connected;
    int64_t session, reconnects;
    int64_t gate, leases; /* czxid of the directories; 0 = missing */
};

/* Someone who wants to hold: a claim, or a latch or ticket with one claim after another. */
struct contender {
    int client, dir;
    int label; /* of its nodes; 0 = this place is free */
    struct zkr__claim *claim;
    zkr_leader_latch *latch;
    zkr_ticket *ticket;
    /* One contender for each path of a multi-lock, all with this and the ticket. NULL = no part. */
    zkr_multi_lock *multi;
    bool asking; /* a part whose ticket is not known yet */
    int permits; /* that its ticket is for; 0 = none */
    struct setting asked_in;
    bool once;    /* its ticket is a try */
    int64_t gate; /* czxid of its last node at the gate */
    /* Since then it has waited for permits with no place there; 0 = it has not. */
    int64_t beside_gate;
    int ticket_told;  /* the state that its callback was told last; 0 = none */
    int64_t deadline; /* of the ticket, true time; 0 = none */
    bool reader;      /* it holds beside other readers */
    bool downgraded;  /* it was a writer */
    const struct zkf_node *node; /* the last one made, while it is there */
    int64_t made_at;
    bool ended;   /* a claim that has failed or was lost: to be left */
    bool holding; /* was sure, and has not been told otherwise */
    bool excused; /* somebody took its node or its session away by hand */
    int64_t excused_at;
    bool told; /* latch: between on_gain and on_loss */
    int64_t token;
    int64_t until;   /* true time until which it was promised the hold */
    int64_t since;   /* entered */
    unsigned wishes; /* that it lets go, written to its node */
    int64_t wish_at; /* the last */
    int64_t held_at; /* since then */
    int refusals;    /* of its node, in a row, for want of permission */
};

struct member {
    zkr_client *c; /* NULL: not running */
    struct zkr__queue *lock;
    struct zkr__queue *readers;      /* with S.s.shared */
    zkr_mutex *mutexes[SEARCH_DIRS]; /* for tickets */
    zkr_semaphore *semaphore;        /* with S.s.permits */
    struct zkf_actor service, dispatch, app;
    bool waits;           /* its service stands at the door */
    int64_t waited_at;    /* the last time of that */
    int64_t service_seen; /* c->service_at at the last look */
    /* For the one rule of the lease bound that leans on what cannot be measured. */
    bool stalled;       /* stopped, or heard by nobody */
    int64_t stalled_at; /* last time of that */
    int64_t lease_seen; /* the bound at the last look */
    bool alone;         /* it comes from one write alone */
    /* The servers count with this time-out, of which it has not heard; 0 = no. */
    int64_t shortened;
    int64_t reconnects; /* it had made by then */
    int64_t timeout_ms; /* at the last look */
    int64_t moved_at;   /* to another server, on purpose */
    int64_t shrunk_at;  /* it was longer at the look before */
    int64_t write_seen; /* when the last one was answered, at the last look */
    int64_t written_at; /* true time of that */
    long wishes, asked; /* written to nodes of its tickets; told */
    int64_t taken_away[SEARCH_DIRS]; /* czxid of nodes by which nobody held */
    unsigned taken_count;
};

/* What the seed has chosen. */
struct scenario {
    uint64_t seed;
    int clients, servers;
    int64_t session, tick; /* ns */
    int64_t length, pace, fault_pace;
    int64_t longest_stop;
    bool peace; /* no faults at all */
    bool sit;   /* who holds holds for long */
    bool free;  /* one client uses the lock again and again, others seldom */
    bool split; /* servers cut off, one after the other, and little else */
    bool isolations, hands, kills, tries, latches, locks, limits;
    /* One server grants short time-outs, another long ones; sessions go to and fro. */
    bool grows;
    bool shared;   /* a read-write lock */
    bool wishes;   /* holders are asked to let go */
    bool counting; /* whose readers watch the whole directory */
    bool multis;   /* multi-locks, and single locks on their other paths */
    bool permits;  /* a semaphore, of so many: */
    int64_t max;   /* as long as there is no count */
    bool resizes;  /* there may be one */
    bool rush;     /* a client asks for several at once */
    int64_t attempts;
    int64_t epoch;      /* of the first leader */
    int64_t margin_ppm; /* by which clocks may differ, 0 = as it is by default */
    bool disasters;     /* all servers killed, or emptied */
    bool forbids;       /* permissions come and go, with peace, too */
    bool lapses;        /* one is missing for a moment, and what happens is not told */
    bool replaces;      /* nodes that are deleted by hand come back as another's */
    bool throttles;     /* servers are too busy at times */
    bool auth;          /* credentials are handed in, and refused at times */
    bool door;          /* libzookeeper fails */
    bool starved;       /* memory is short at times */
    int64_t number;     /* given out first, -1 = 0 */
    bool visits;        /* strangers put children beside ours */
    bool named;         /* some of them by numbers of their own */
    bool remakes;       /* directories are made again as they are empty */
    bool forgetful;     /* clients remember short lists only */
    bool narrow;        /* their nodes are made one at a time */
    bool lies;          /* servers answer what cannot be */
    int64_t watch_most; /* room for watches of a session; 0 = as much as is usual */
    int64_t look_ahead; /* the option of that name */
    int64_t keep_ms;    /* of the mutexes for tickets */
};

struct search {
    struct scenario s;
    bool trace;
    bool beyond; /* clocks differ by more than was promised, in all scenarios */
    struct member members[SEARCH_CLIENTS];
    struct contender contenders[SEARCH_CONTENDERS];
    struct zkf_actor faults;
    bool quiet;    /* the end: no faults, nobody new; who holds lets go */
    bool still;    /* before that: nobody comes or goes */
    bool starving; /* the library runs, and may get no memory */
    int labels;
    long steps;     /* of this run */
    int requesting; /* label of the contender that requests a ticket right now; 0 = none */
    int64_t last_token[SEARCH_DIRS];
    int64_t last_pass[SEARCH_DIRS];
    int64_t last_alone[SEARCH_DIRS]; /* of those that hold alone */
    int last_label[SEARCH_DIRS];
    struct search_line {
        int client;
        int64_t token;
        const struct zkf_node *node; /* of the last grant, while it is there */
        int64_t gone_at;
    } lines[SEARCH_DIRS]; /* see first_in_line() in search_check.c */
    char violation[400];
    /* What went on, over all seeds. */
    struct {
        long steps, grants, passes, losses, faults, entered, failed, expired, stops,
            cuts, isolations, crashes, hands, kills, latch_gains, shortened, tickets,
            shared_grants, downgrades, wishes, asked, multis, multi_grants,
            permit_grants, several_permits, permits_together, resizes, numbers_spent,
            forbidden, nodes_forbidden, replaced, no_memory, visits, visits_named,
            remakes, remakes_counted_on, guesses, wrong, lists_shared, placed_behind,
            lined_up, looked, moves, leaderless, prepared, kept;
        long permits_in_turn;
    } did;
};

extern struct search S;

/* Run one seed. False: S.violation says what was wrong. */
bool search_run(uint64_t seed, bool trace);

void search_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* search_scenario.c */
void search_choose(uint64_t seed);

/* search_ops.c: what the applications do */
void search_open(int member);
void search_close(int member, bool killed);
void search_app(void *member);
void search_leave(struct contender *k);
const char *search_dir(int dir);

/* search_multi.c */
void search_request_multi(int client, struct contender *parts[], int count);
/* The other parts of a multi-lock are free with this one. */
void search_drop_multi(struct contender *k);
/* The part of a multi-lock that @claim is for, or NULL. */
struct contender *search_part_of(const struct zkr__claim *claim);
struct zkr__claim *search_part_claim(const struct contender *k);
/* All parts hold, as far as their group says. */
bool search_all_held(const struct contender *k);
void search_check_multis(void);

/* search_permits.c */
void search_begin_permits(void);
void search_open_permits(struct member *m);
void search_ask_permits(struct contender *k);
/* The contender that @claim is for, or NULL. The claim's node is asked for just now. */
struct contender *search_ask_sent(const struct zkr__claim *claim);
/* A lease, not a node at the gate. */
bool search_is_lease(const struct zkf_node *node);
void search_on_permit_node(struct contender *k, const struct zkf_node *node);
/* Who waits for permits stands at the gate, so that others come behind, and do not all look after each release. */
void search_check_inside(struct contender *k) ZKR__LOCKED;
void search_check_permits(const struct contender *k, int64_t token);
/* Nodes by which it holds. */
int search_leases_of(const struct contender *k);
void search_sum_permits(bool (*believes)(const struct contender *k));
void search_resize(void);
/* Everybody can be served. */
void search_resize_enough(void);
/* Watches of those who follow the count; they stay. */
size_t search_count_watches(void);

/* search_tickets.c */
void search_on_ticket(zkr_ticket *ticket, int state, void *ctx);
/* A time-out for a ticket of @k. */
int64_t search_timeout(struct contender *k);
void search_request(struct contender *k, zkr_mutex *mutex);
void search_hand_in(struct contender *k);
void search_check_ticket(struct contender *k);
/* The claim by which it wants to hold, or holds; NULL: none now. */
struct zkr__claim *search_claim(const struct contender *k);

/* search_faults.c */
/* Of the scenario; zkf_chance() and the like are at hand. */
void search_choose_faults(struct scenario *s);
/* What stands from the beginning: limits of servers, numbers, the door. The fake runs. */
void search_begin_faults(void);
/* By how much a client's clock is faster, in parts of a million. */
int64_t search_skew(void);
void search_on_refused(int label, const char *deleted);
/* What was forbidden is allowed, and strangers leave. */
void search_clean_up(void);
void search_fault(void *unused);
void search_calm(void);

/* search_visitors.c */
void search_begin_visitors(void);
void search_visit(void);
/* One with this very name, for @owner as zkf_stranger_create_for() has it. */
bool search_visit_as(const char *path, int64_t owner);
/* A stranger that named itself by a number which the servers had yet to come to. */
bool search_is_ahead_of_count(const struct zkf_node *node);
/* All leave who may be in the way. False: some cannot yet. */
bool search_end_visits(void);
/* A client sends it: if it makes a node in a directory that is empty, that may be made again. */
void search_on_create(const struct zkr__op *op);
/* Steps of this client in which it asked for no list, asked for one after all, had one with others. */
void search_count_lists(int client);
/* Do so, if one is to be. False: none is. */
bool search_remake(void);

/* search_wishes.c */
void search_wish(void);
void search_touch(const struct zkf_node *node);
void search_on_revoke(zkr_mutex *mutex, void *member);
void search_check_wishes(const struct contender *k, const struct zkr__claim *claim);

/* search_lease.c */
/* The client was, or is no more, kept from its servers. */
void search_stalled(int member, bool stalled);
void search_on_shortened(int client, int64_t session, int64_t timeout);
/* True: from now on it promises less than it did. */
bool search_look_at_lease(int client);
/* What it promises now may be more than it can know. */
bool search_leans(int client);
/* Its session shrank before a write of it was answered. */
bool search_shrank_early(const struct contender *k);

/* search_check.c */
void search_check(void);
/* Nobody has moved for long: who may hold does. */
void search_check_entitled(void);
/* A node of the client of @k that is on its way out. */
bool search_is_leaving(const struct contender *k, const struct zkf_node *node);
/* The path of the one that @claim stands behind. */
const char *search_stands_behind(const struct zkr__claim *claim, const char *nobody);
int search_on_submit(int client, const struct zkr__op *op);
void search_on_created(const struct zkf_node *node);
void search_on_deleting(const struct zkf_node *node);
/* @node is about to be deleted by hand, or its session ended. */
void search_excuse(const struct zkf_node *node);
/* All data are about to go, and with them all that was promised. */
void search_excuse_all(void);
/* The node of the contender with this label is not allowed to be. */
void search_refused(int label);
struct contender *search_by_label(int label);
/* The node in front of this one, or NULL. */
const struct zkf_node *search_ahead(const struct zkf_node *node);

#endif
