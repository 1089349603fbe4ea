/* SPDX-License-Identifier: MIT */
/*
 * SipHash-2-4 (Aumasson, Bernstein 2012): a hash that tells nothing of what was hashed to who does
 * not have its key. Fed by whole words of eight bytes, as they lie in memory.
 */
#ifndef JIS_AGENT_SIPHASH_H
#define JIS_AGENT_SIPHASH_H

#include <stdint.h>

struct siphash {
	uint64_t v[4];
	uint64_t words;
};

void siphash_begin(struct siphash *s, const uint64_t key[2]);
void siphash_word(struct siphash *s, uint64_t word);
/* @rest: the last @n bytes, 0 to 7, zeros above them. */
uint64_t siphash_end(struct siphash *s, uint64_t rest, unsigned int n);

#endif /* JIS_AGENT_SIPHASH_H */
