/* SPDX-License-Identifier: MIT */
/*
 * Binds the libc functions that glibc 2.34 gave a new version (when libpthread and libdl moved into
 * libc) to their first one, so that the agent loads with glibc 2.28. scripts/lint-glibc.sh checks
 * the result. To be included by each file that uses one of them.
 */
#ifndef JIS_AGENT_COMPAT_H
#define JIS_AGENT_COMPAT_H

#include <features.h>

#if defined(__GLIBC__)
#if defined(__x86_64__)
#define JIS_GLIBC_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define JIS_GLIBC_FIRST "GLIBC_2.17"
#endif
#endif

#ifdef JIS_GLIBC_FIRST
#define JIS_GLIBC_OLD(name) __asm__(".symver " #name "," #name "@" JIS_GLIBC_FIRST)
JIS_GLIBC_OLD(pthread_create);
JIS_GLIBC_OLD(pthread_detach);
JIS_GLIBC_OLD(pthread_key_create);
JIS_GLIBC_OLD(pthread_setspecific);
JIS_GLIBC_OLD(dlsym);
JIS_GLIBC_OLD(dlopen);
JIS_GLIBC_OLD(dlclose);
JIS_GLIBC_OLD(dladdr);
#endif

#endif /* JIS_AGENT_COMPAT_H */
