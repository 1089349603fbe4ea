/* SPDX-License-Identifier: MIT */
/*
 * Names: Java's modified UTF-8 to UTF-8, the dictionary stream and its one lock, and the table that
 * gives each text one id. Looking up a known text takes no lock; entries live as long as the
 * recording, their number is bounded.
 */
#include "compat.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "agent.h"

#define BUCKETS 8192u
#define NAMES_MAX 262143u /* ids have 18 bits, see markers.c */

struct name {
	struct name *next;
	__u64 hash;
	__u32 id;
	__u32 length;
	char text[];
};

static pthread_mutex_t dict_lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *buckets[BUCKETS]; /* written under the lock with release, read with acquire */
static __u32 nr_names;		      /* under the lock */

/* Text --------------------------------------------------------------------------------------- */

/* One UTF-16 unit in modified UTF-8; returns how many bytes it takes, 0 if it is none. */
static size_t unit_read(const unsigned char *p, size_t length, __u32 *unit)
{
	if (p[0] < 0x80) {
		*unit = p[0];
		return 1;
	}
	if (length >= 2 && (p[0] & 0xe0) == 0xc0 && (p[1] & 0xc0) == 0x80) {
		*unit = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
		return 2;
	}
	if (length >= 3 && (p[0] & 0xf0) == 0xe0 && (p[1] & 0xc0) == 0x80 &&
	    (p[2] & 0xc0) == 0x80) {
		*unit = (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		return 3;
	}
	return 0;
}

/* One character: a unit or a pair of surrogates. Returns the bytes it takes in @p, at least 1. */
static size_t character_read(const unsigned char *p, size_t length, __u32 *character)
{
	size_t n = unit_read(p, length, character), n2;
	__u32 low;

	if (n && *character >= 0xd800 && *character < 0xdc00) {
		n2 = n < length ? unit_read(p + n, length - n, &low) : 0;
		if (n2 && low >= 0xdc00 && low < 0xe000) {
			*character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
			return n + n2;
		}
	}
	if (!n || (*character >= 0xd800 && *character < 0xe000))
		*character = 0xfffd;
	else if (!*character)
		*character = 0x2400;
	return n ? n : 1;
}

static size_t character_write(char *out, __u32 c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t utf8_of_modified(char *out, const char *in, size_t length)
{
	const unsigned char *p = (const unsigned char *)in;
	size_t i = 0, n = 0;
	__u32 character;

	while (i < length && n + 4 <= NAME_UTF8_MAX) {
		i += character_read(p + i, length - i, &character);
		n += character_write(out + n, character);
	}
	return n;
}

int name_of_string(JNIEnv *env, jstring string, char out[NAME_UTF8_MAX])
{
	char modified[NAME_MODIFIED_MAX];
	jsize length;

	if (!string)
		return -1;
	length = (*env)->GetStringLength(env, string);
	if (length > NAME_UTF16_MAX)
		length = NAME_UTF16_MAX;
	modified[0] = 0;
	(*env)->GetStringUTFRegion(env, string, 0, length, modified);
	return (int)utf8_of_modified(out, modified, strnlen(modified, sizeof(modified)));
}

/* The dictionary ----------------------------------------------------------------------------- */

/*
 * Takes the lock, and waits before that until the dictionary has room for @size bytes, as long as
 * the writer itself would: others that need no room go on meanwhile.
 */
static void dict_begin(size_t size)
{
	const struct timespec step = {0, 1000000};
	int ms;

	for (ms = 0;; ms++) {
		pthread_mutex_lock(&dict_lock);
		if (jis_dict_ready(&agent.writer, size) == 0)
			return;
		if (ms >= JIS_DICT_WAIT_MS)
			break;
		pthread_mutex_unlock(&dict_lock);
		nanosleep(&step, NULL);
	}
	agent.writer.dict_full = 1; /* in vain */
}

void dict_lose(unsigned int id)
{
	struct jis_slot *slot;

	if (!agent_enter())
		return;
	pthread_mutex_lock(&dict_lock);
	slot = agent.writer.slots + JIS_POOL_DICT_SLOT;
	jis_count(&slot->produced[id]);
	jis_lose(slot, id, jis_ticks(&agent.writer));
	pthread_mutex_unlock(&dict_lock);
	agent_leave();
}

int dict_write(unsigned int id, const void *fixed, size_t size, const char *text, size_t length)
{
	int error;

	if (!agent_enter())
		return -ENOENT;
	dict_begin(size + length);
	error = jis_dict_write(&agent.writer, id, fixed, size, text, length);
	pthread_mutex_unlock(&dict_lock);
	agent_leave();
	return error;
}

int dict_write_modified(unsigned int id, const void *fixed, size_t size, const char *text)
{
	char utf8[NAME_UTF8_MAX];

	return dict_write(id, fixed, size, utf8, utf8_of_modified(utf8, text, strlen(text)));
}

static __u64 text_hash(const char *text, size_t length)
{
	__u64 hash = 0xcbf29ce484222325ull; /* FNV-1a, 64 bits */
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash;
}

static __u32 name_find(const char *text, size_t length, __u64 hash)
{
	struct name *n = __atomic_load_n(&buckets[hash % BUCKETS], __ATOMIC_ACQUIRE);

	for (; n; n = n->next)
		if (n->hash == hash && n->length == length && !memcmp(n->text, text, length))
			return n->id;
	return 0;
}

/* Defines a new name; the lock is held. It enters the table only after its record is written. */
static __u32 name_add(const char *text, size_t length, __u64 hash)
{
	struct name **bucket = &buckets[hash % BUCKETS], *name;
	struct jis_ev_string_def fixed = {.id = nr_names + 1};

	if (nr_names >= NAMES_MAX) {
		jis_count(&agent.writer.slots[JIS_POOL_DICT_SLOT].produced[JIS_EV_string_def]);
		jis_lose(agent.writer.slots + JIS_POOL_DICT_SLOT, JIS_EV_string_def,
			 jis_ticks(&agent.writer));
		return 0;
	}
	name = malloc(sizeof(*name) + length);
	if (!name)
		return 0;
	if (jis_dict_write(&agent.writer, JIS_EV_string_def, &fixed,
			   offsetof(struct jis_ev_string_def, text_length), text, length) < 0) {
		free(name);
		return 0;
	}
	name->hash = hash;
	name->id = ++nr_names;
	name->length = (__u32)length;
	memcpy(name->text, text, length);
	name->next = *bucket;
	__atomic_store_n(bucket, name, __ATOMIC_RELEASE);
	return name->id;
}

__u32 name_intern(const char *text, size_t length)
{
	__u64 hash = text_hash(text, length);
	__u32 id;

	if (!agent_enter())
		return 0;
	id = name_find(text, length, hash);
	if (!id) {
		dict_begin(sizeof(struct jis_ev_string_def) + length);
		id = name_find(text, length, hash);
		if (!id)
			id = name_add(text, length, hash);
		pthread_mutex_unlock(&dict_lock);
	}
	agent_leave();
	return id;
}

void names_reset(void)
{
	struct name *name;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		while ((name = buckets[i])) {
			buckets[i] = name->next;
			free(name);
		}
	}
	nr_names = 0;
}

__u32 name_intern_modified(const char *text)
{
	char utf8[NAME_UTF8_MAX];

	return name_intern(utf8, utf8_of_modified(utf8, text, strlen(text)));
}
