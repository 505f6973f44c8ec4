/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_HISTORY_H
#define ZKC_HISTORY_H

#include "check.h"

/*
 * The history in the format of test/history, and what the judge there says of it: who may not be together is not, and
 * comes in order, tokens rise, and no update is lost.
 */

/** Write the records to @file. False: it cannot be written. */
bool zkc_history_tell(const char *file,
                      const zkc_record *all,
                      size_t n,
                      const struct zkc_expected *expected);

/** Let the judge judge @file: what it finds is added. False: there is no judge. */
bool zkc_history_judge(const char *file, struct zkc_verdict *v);

#endif
