/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_KEEP_H
#define ZKT_KEEP_H

/*
 * What a case has opened is ended with it: clients, locks, proxies and servers of fixture.h keep
 * themselves. A body ends by hand only what it is about.
 */

/** When the case has come to its end, call @end(@object), the newest first. Outside of cases: nothing. */
void zkt_keep(void *object, void (*end)(void *object));

/** It is ended by hand. */
void zkt_unkeep(const void *object);

/** A case begins; it has come to its end. */
void zkt_keep_begin(void);
void zkt_keep_end(void);

#endif
