/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78, RFC 3720 appendix B.4): the CPU's
 * instruction where there is one, else eight table look-ups a word.
 */
#include <pthread.h>
#include <string.h>

#include "write.h"

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		table[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

static uint32_t crc32c_table(uint32_t crc, const uint8_t *p, size_t len)
{
	pthread_once(&table_once, table_make);
	for (; len >= 8; len -= 8, p += 8) {
		uint32_t lo, hi;

		memcpy(&lo, p, 4);
		memcpy(&hi, p + 4, 4);
		lo ^= crc;
		crc = table[7][lo & 0xff] ^ table[6][lo >> 8 & 0xff] ^ table[5][lo >> 16 & 0xff] ^
		      table[4][lo >> 24] ^ table[3][hi & 0xff] ^ table[2][hi >> 8 & 0xff] ^
		      table[1][hi >> 16 & 0xff] ^ table[0][hi >> 24];
	}
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_cpu(uint32_t crc, const uint8_t *p,
							     size_t len)
{
	uint64_t c = crc;

	for (; len >= 8; len -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		c = __builtin_ia32_crc32di(c, word);
	}
	while (len--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return (uint32_t)c;
}

static int cpu_has_crc(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#else
static uint32_t crc32c_cpu(uint32_t crc, const uint8_t *p, size_t len)
{
	return crc32c_table(crc, p, len);
}

static int cpu_has_crc(void)
{
	return 0;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return ~(cpu_has_crc() ? crc32c_cpu : crc32c_table)(~crc, data, len);
}

uint32_t packet_crc32c(const struct jis_packet_header *packet)
{
	const size_t field = offsetof(struct jis_packet_header, crc32c),
		     after = field + sizeof(uint32_t);
	const uint8_t *bytes = (const uint8_t *)packet;
	const uint32_t zero = 0;
	uint32_t crc;

	crc = crc32c(0, bytes, field);
	crc = crc32c(crc, &zero, sizeof(zero));
	return crc32c(crc, bytes + after, packet->content_size / 8 - after);
}
