/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78; RFC 3720 B.4): the CPU's instruction where
 * it has one, else eight table look-ups for eight bytes. The instruction has three cycles of
 * latency and one of throughput, so three blocks are summed side by side and joined by a table that
 * advances a sum over one block of zeros. Must give the same value on every path.
 */
#include "crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "write.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#define CRC_TARGET __attribute__((target("sse4.2")))
#define CRC_BYTE(crc, v) _mm_crc32_u8(crc, v)
#define CRC_WORD(crc, v) _mm_crc32_u64(crc, v)
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define CRC_TARGET __attribute__((target("+crc")))
#define CRC_BYTE(crc, v) __crc32cb(crc, v)
#define CRC_WORD(crc, v) __crc32cd((uint32_t)(crc), v)
#define HWCAP_CRC32_BIT (1ul << 7)
#endif

#define POLYNOMIAL 0x82f63b78u
#define BLOCK 1024u

static uint32_t slice[8][256]; /* slice[k][b]: byte b and k zero bytes behind it */
static uint32_t skip[4][256];  /* skip[k][b]: byte k of a sum, advanced over BLOCK zero bytes */
static bool fast;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool cpu_has_crc(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("sse4.2");
#elif defined(__aarch64__)
	return (getauxval(AT_HWCAP) & HWCAP_CRC32_BIT) != 0;
#else
	return false;
#endif
}

static void make_tables(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		slice[0][b] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			slice[k][b] = slice[k - 1][b] >> 8 ^ slice[0][slice[k - 1][b] & 0xff];
	/* Linear: those of single bits make all others. */
	for (int k = 0; k < 4; k++) {
		for (uint32_t b = 1; b < 256; b++) {
			uint32_t crc = b << (8 * k);

			for (uint32_t i = 0; !(b & (b - 1)) && i < BLOCK; i++)
				crc = crc >> 8 ^ slice[0][crc & 0xff];
			skip[k][b] = b & (b - 1) ? skip[k][b & (b - 1)] ^ skip[k][b & -b] : crc;
		}
	}
	fast = cpu_has_crc();
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t sum_software(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8) {
		uint64_t v = load64(p) ^ crc;

		crc = 0;
		for (int k = 0; k < 8; k++, v >>= 8)
			crc ^= slice[7 - k][v & 0xff];
	}
	while (len--)
		crc = crc >> 8 ^ slice[0][(crc ^ *p++) & 0xff];
	return crc;
}

#ifdef CRC_TARGET
static uint32_t skip_block(uint32_t crc)
{
	return skip[0][crc & 0xff] ^ skip[1][crc >> 8 & 0xff] ^ skip[2][crc >> 16 & 0xff] ^
	       skip[3][crc >> 24];
}

/* The sums are in 64 bits, as the instruction has them, so that the inner loop has nothing else. */
CRC_TARGET static uint32_t sum_hardware(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len >= 3 * BLOCK; p += 2 * BLOCK, len -= 3 * BLOCK) {
		const uint8_t *end = p + BLOCK;
		uint64_t first = crc, second = 0, third = 0;

		for (; p < end; p += 16) {
			first = CRC_WORD(first, load64(p));
			second = CRC_WORD(second, load64(p + BLOCK));
			third = CRC_WORD(third, load64(p + 2 * BLOCK));
			first = CRC_WORD(first, load64(p + 8));
			second = CRC_WORD(second, load64(p + BLOCK + 8));
			third = CRC_WORD(third, load64(p + 2 * BLOCK + 8));
		}
		crc = skip_block(skip_block((uint32_t)first) ^ (uint32_t)second) ^ (uint32_t)third;
	}
	for (; len >= 8; p += 8, len -= 8)
		crc = (uint32_t)CRC_WORD(crc, load64(p));
	while (len--)
		crc = CRC_BYTE(crc, *p++);
	return crc;
}
#endif

uint32_t crc32c_software(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, make_tables);
	return ~sum_software(~crc, data, len);
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, make_tables);
#ifdef CRC_TARGET
	if (fast)
		return ~sum_hardware(~crc, data, len);
#endif
	return ~sum_software(~crc, data, len);
}

uint32_t packet_crc32c(const struct jis_packet_header *packet)
{
	struct jis_packet_header h = *packet;

	h.crc32c = 0;
	return crc32c(crc32c(0, &h, sizeof(h)), packet + 1, h.content_size / 8 - sizeof(h));
}
