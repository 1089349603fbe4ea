/* SPDX-License-Identifier: MIT */
/*
 * Whose locks futexes are, by address: read before all other records, as that is told after the
 * first wait. Inside of merger/ only.
 */
#ifndef JIS_MERGER_MODEL_FUTEXES_H
#define JIS_MERGER_MODEL_FUTEXES_H

#include "model_int.h"

struct model_futex {
	uint64_t address, time;
	uint32_t process, name; /* model_name() */
	uint32_t from;		/* enum jis_futex_of */
};

/* Before all other records: from @t on it is this one's. */
void futex_ahead(struct model *m, uint32_t process, const struct jis_ev_futex_name *ev, uint64_t t);
/* Whose lock a wait on the futex at @address was for, which ended at @end; NULL: not known. */
const struct model_futex *futex_of(struct model *m, uint32_t process, uint64_t address,
				   uint64_t end);
void futexes_fini(struct model *m);

#endif /* JIS_MERGER_MODEL_FUTEXES_H */
