/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_HISTORY_H
#define ZKC_HISTORY_H

#include "check.h"

/*
 * The history in the format of test/history, and the verdict of the judge there. The judge checks mutual exclusion and
 * order of grants, that tokens rise, and that no update is lost.
 */

/** Write the records to @file. Returns false if that fails. */
bool zkc_history_tell(const char *file,
                      const zkc_record *all,
                      size_t n,
                      const struct zkc_expected *expected);

/** Run the judge on @file, and add its findings to @v. Returns false if there is no judge. */
bool zkc_history_judge(const char *file, struct zkc_verdict *v);

#endif
