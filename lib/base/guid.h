/* SPDX-License-Identifier: Apache-2.0 */
/* Random version 4 UUIDs as text, the way java.util.UUID prints them. */
#ifndef ZKR_BASE_GUID_H
#define ZKR_BASE_GUID_H

#define ZKR__GUID_LEN 36

/* Fill @text. Returns 0 or errno; there is no weaker source to fall back to. */
int zkr__guid_make(char text[ZKR__GUID_LEN + 1]);

#endif
