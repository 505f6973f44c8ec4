/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_KEEP_H
#define ZKT_KEEP_H

/*
 * What a case has opened is ended with it. Clients, locks, proxies and servers of fixture.h are kept by themselves; a
 * body ends by hand only what it is about.
 */

/** Call @end(@object) at the end of the case, for the newest object first. Does nothing outside of cases. */
void zkt_keep(void *object, void (*end)(void *object));

/** Forget @object, which is ended by hand. */
void zkt_unkeep(const void *object);

/** A case begins; a case has come to its end. */
void zkt_keep_begin(void);
void zkt_keep_end(void);

#endif
