/* SPDX-License-Identifier: MIT */
/* Names in X.mth: of JVMs, threads and methods of the tree in X.jta. */
#ifndef JIS_CALLTREE_JTA_NAMES_H
#define JIS_CALLTREE_JTA_NAMES_H

#include <stdint.h>

struct jta_names;

struct jta_jvm_name {
	char *name, *program; /* as its user calls it, and of its executable */
	uint32_t pid;
};

struct jta_thread_name {
	char *name;
	uint32_t jvm, tid; /* tid 0: not known, or a virtual thread */
	uint64_t java_tid;
};

/**
 * jta_names_open - reads X.mth for the tree @jta_path, X.jta.
 * Returns 0; -errno of open(2), -EINVAL: @jta_path does not end in .jta, -EBADMSG: the file is
 * none. Close with jta_names_close().
 */
int jta_names_open(const char *jta_path, struct jta_names **out);
void jta_names_close(struct jta_names *n);

/* NULL: there is none such. */
const struct jta_jvm_name *jta_jvm_name(const struct jta_names *n, uint32_t jvm);
const struct jta_thread_name *jta_thread_name(const struct jta_names *n, uint32_t thread);
/* "?": there is none such. */
const char *jta_method_name(const struct jta_names *n, uint32_t method);

#endif /* JIS_CALLTREE_JTA_NAMES_H */
