/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file zkr.h
 * All headers except guard.h, which needs ZooKeeper's own header.
 */
#ifndef ZKR_ZKR_H
#define ZKR_ZKR_H

#include <zkr/client.h>
#include <zkr/client_options.h>
#include <zkr/contenders.h>
#include <zkr/dispatch.h>
#include <zkr/error.h>
#include <zkr/export.h>
#include <zkr/guardian.h>
#include <zkr/leader_latch.h>
#include <zkr/leader_selector.h>
#include <zkr/lease.h>
#include <zkr/loss.h>
#include <zkr/metrics.h>
#include <zkr/multi_lock.h>
#include <zkr/mutex.h>
#include <zkr/node.h>
#include <zkr/rwlock.h>
#include <zkr/semaphore.h>
#include <zkr/survey.h>
#include <zkr/ticket.h>
#include <zkr/version.h>

#endif
