/* SPDX-License-Identifier: MIT */
#include "siphash.h"

static uint64_t rotate(uint64_t x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static void siphash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

void siphash_begin(struct siphash *s, const uint64_t key[2])
{
	s->v[0] = key[0] ^ 0x736f6d6570736575ull;
	s->v[1] = key[1] ^ 0x646f72616e646f6dull;
	s->v[2] = key[0] ^ 0x6c7967656e657261ull;
	s->v[3] = key[1] ^ 0x7465646279746573ull;
	s->words = 0;
}

void siphash_word(struct siphash *s, uint64_t word)
{
	s->v[3] ^= word;
	siphash_round(s->v);
	siphash_round(s->v);
	s->v[0] ^= word;
	s->words++;
}

uint64_t siphash_end(struct siphash *s, uint64_t rest, unsigned int n)
{
	unsigned int i;

	siphash_word(s, (s->words * 8 + n) << 56 | rest);
	s->v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		siphash_round(s->v);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}
