/* SPDX-License-Identifier: MIT */
/*
 * Waits for classes that other threads initialise: read before all other records, asked for when
 * the wait ends. Inside of merger/ only.
 */
#ifndef JIS_MERGER_MODEL_CLASS_WAITS_H
#define JIS_MERGER_MODEL_CLASS_WAITS_H

#include "model_int.h"

/* Before all other records: a wait of which this tells ended at @t. */
void class_wait_ahead(struct model *m, uint32_t process, const struct jis_ev_class_waited *ev,
		      uint64_t t);
/* The class (model_name()) of the wait of which @life, woken at @end, tells within @within ns; 0:
 * it tells of none. */
uint32_t class_wait_of(struct model *m, uint32_t life, uint64_t end, uint64_t within);
void class_waits_fini(struct model *m);

#endif /* JIS_MERGER_MODEL_CLASS_WAITS_H */
