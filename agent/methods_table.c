/* SPDX-License-Identifier: MIT */
/*
 * Numbers of methods, and what the dictionary says of them. A method is known by its class's
 * loader, its class, its name and its descriptor, and keeps its number for as long as the JVM runs,
 * so that a call begun before its class was rewritten again, or in a former recording, is still its
 * own.
 */
#include "compat.h"

#include <pthread.h>
#include <stdlib.h>

#include "methods.h"
#include "waits.h"

#define CLASS_BUCKETS 16384u
#define LOADER_BUCKETS 4096u
#define SWEEP_MIN 64u
#define NUMBER_MAX 0x7ffffffeu

#define ACC_STATIC 0x0008u
#define ACC_SYNCHRONIZED 0x0020u
#define ACC_SYNTHETIC 0x1000u

/*
 * A loader is known by a weak reference. Whether two are the same is asked of the JVM, which may
 * stop who asks, so never under the lock: lists are walked without it, and what is taken out of
 * them stays until nobody walks.
 */
struct loader {
	struct loader *next, *next_numbered, *next_gone;
	jweak reference;
	jint hash;
	__u32 number;
	int gone;
	char *class_name; /* NULL: not to be had */
};

pthread_mutex_t methods_lock = PTHREAD_MUTEX_INITIALIZER;

static struct loader *loaders[LOADER_BUCKETS], *numbered[LOADER_BUCKETS];
static __u32 nr_loaders;			    /* ever */
static unsigned int nr_alive, sweep_at = SWEEP_MIN; /* when there are so many, look who is gone */
static unsigned int nr_walking;
static struct loader *gone; /* taken out */
static struct traced_class *classes[CLASS_BUCKETS];
static __u32 last_number;

/* By number, grown with them; NULL: its class is forgotten. */
static struct entry {
	struct traced *method;
	struct traced_class *class;
} * entries;
static __u32 room_entries;

/* Loaders ------------------------------------------------------------------------------------ */

static char *loader_class_name(JNIEnv *env, jobject loader)
{
	jclass class = (*env)->GetObjectClass(env, loader);
	char text[NAME_UTF8_MAX], *copy = NULL;
	size_t length = class ? class_name_text(class, text) : 0;

	if (length)
		copy = malloc(length + 1);
	if (copy) {
		memcpy(copy, text, length);
		copy[length] = 0;
	}
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return copy;
}

static void loader_free(JNIEnv *env, struct loader *l)
{
	if (l->reference)
		(*env)->DeleteWeakGlobalRef(env, l->reference);
	free(l->class_name);
	free(l);
}

static struct loader *loader_new(JNIEnv *env, jobject object, jint hash)
{
	struct loader *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->reference = (*env)->NewWeakGlobalRef(env, object);
	if (!l->reference) {
		exception_clear(env);
		free(l);
		return NULL;
	}
	l->hash = hash;
	l->class_name = loader_class_name(env, object);
	return l;
}

static void walk_begin(void)
{
	pthread_mutex_lock(&methods_lock);
	nr_walking++;
	pthread_mutex_unlock(&methods_lock);
}

static void walk_end(JNIEnv *env)
{
	struct loader *l = NULL, *next;

	pthread_mutex_lock(&methods_lock);
	if (!--nr_walking) {
		l = gone;
		gone = NULL;
	}
	pthread_mutex_unlock(&methods_lock);
	for (; l; l = next) {
		next = l->next_gone;
		loader_free(env, l);
	}
}

/* The first that may be looked at without the lock, between walk_begin() and walk_end(). */
static struct loader *loader_first(__u32 bucket)
{
	return __atomic_load_n(&loaders[bucket], __ATOMIC_ACQUIRE);
}

static struct loader *loader_after(const struct loader *l)
{
	return __atomic_load_n(&l->next, __ATOMIC_ACQUIRE);
}

/* Adds @l unless others have been added behind @first was read; returns whether it did. */
static int loader_add(struct loader *l, const struct loader *first)
{
	struct loader **bucket = &loaders[(__u32)l->hash % LOADER_BUCKETS];
	struct loader **by_number;
	int is;

	pthread_mutex_lock(&methods_lock);
	is = *bucket == first;
	if (is) {
		l->number = ++nr_loaders;
		nr_alive++;
		by_number = &numbered[l->number % LOADER_BUCKETS];
		l->next_numbered = *by_number;
		*by_number = l;
		l->next = *bucket;
		__atomic_store_n(bucket, l, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&methods_lock);
	return is;
}

/* Its number, once it is in the table; @new: what may be put there, or NULL. */
static long loader_find(JNIEnv *env, jobject object, jint hash, struct loader **new)
{
	const struct loader *first, *l;
	long number = 0;

	do {
		first = loader_first((__u32)hash % LOADER_BUCKETS);
		for (l = first; l; l = loader_after(l))
			if (l->hash == hash && (*env)->IsSameObject(env, l->reference, object))
				return (long)l->number;
		if (!*new)
			*new = loader_new(env, object, hash);
		if (!*new)
			return -1;
		if (loader_add(*new, first)) {
			number = (long)(*new)->number;
			*new = NULL;
		}
	} while (!number);
	return number;
}

static int sweep_due(void)
{
	int due;

	pthread_mutex_lock(&methods_lock);
	due = nr_alive >= sweep_at;
	pthread_mutex_unlock(&methods_lock);
	return due;
}

long loader_number(JNIEnv *env, jobject object)
{
	struct loader *new = NULL;
	jint hash = 0;
	long number;

	if (!object)
		return 0;
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, object, &hash))
		return -1;
	walk_begin();
	number = loader_find(env, object, hash, &new);
	walk_end(env);
	if (new)
		loader_free(env, new);
	if (sweep_due())
		traced_sweep(env);
	return number;
}

static const struct loader *loader_of(__u32 number)
{
	const struct loader *l = numbered[number % LOADER_BUCKETS];

	while (l && l->number != number)
		l = l->next_numbered;
	return l;
}

__u32 loader_name(long number)
{
	const struct loader *l = number > 0 ? loader_of((__u32)number) : NULL;

	return l && l->class_name ? name_intern(l->class_name, strlen(l->class_name)) : 0;
}

/* Classes ------------------------------------------------------------------------------------ */

static __u32 class_hash(long loader, const char *name, size_t length)
{
	__u64 hash = 0xcbf29ce484222325ull ^ (__u64)loader;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ull;
	return (__u32)(hash >> 20);
}

struct traced_class *traced_class_get(long loader, const char *name, size_t length, int make)
{
	__u32 hash = class_hash(loader, name, length);
	struct traced_class **bucket = &classes[hash % CLASS_BUCKETS], *c;

	if (loader < 0)
		return NULL;
	for (c = *bucket; c; c = c->next)
		if (c->hash == hash && c->loader == (__u32)loader && c->length == length &&
		    !memcmp(c->name, name, length))
			return c;
	c = make ? calloc(1, sizeof(*c) + length + 1) : NULL;
	if (!c)
		return NULL;
	c->loader = (__u32)loader;
	c->hash = hash;
	c->length = length;
	memcpy(c->name, name, length);
	c->next = *bucket;
	*bucket = c;
	return c;
}

/* As Class.getName() has it: of a hidden class's suffix JVMTI writes the dot, and Java the slash.
 */
static char dotted(char c)
{
	return c == '/' ? '.' : c == '.' ? '/' : c;
}

size_t class_dotted(jclass class, char *text, size_t n)
{
	char *signature = NULL;
	size_t length = 0, i;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) || !signature)
		return 0;
	if (signature[0] == 'L')
		length = strlen(signature) - 2;
	if (length >= n)
		length = 0;
	for (i = 0; i < length; i++)
		text[i] = dotted(signature[i + 1]);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
	return length;
}

struct traced_class *traced_class_next(const struct traced_class *after)
{
	__u32 i = 0;

	if (after) {
		if (after->next)
			return after->next;
		i = after->hash % CLASS_BUCKETS + 1;
	}
	for (; i < CLASS_BUCKETS; i++)
		if (classes[i])
			return classes[i];
	return NULL;
}

static void class_free(struct traced_class *c)
{
	struct traced *m;

	while ((m = c->methods)) {
		c->methods = m->next;
		entries[m->number] = (struct entry){0};
		free(m);
	}
	free(c->supers);
	free(c);
}

/* Those of loaders that are in the table no more; the lock is held. */
static void classes_forget(void)
{
	struct traced_class **p, *c;
	unsigned int i;

	for (i = 0; i < CLASS_BUCKETS; i++)
		for (p = &classes[i]; (c = *p);) {
			if (!c->loader || loader_of(c->loader)) {
				p = &c->next;
				continue;
			}
			*p = c->next;
			class_free(c);
		}
}

static void numbered_remove(const struct loader *l)
{
	struct loader **p = &numbered[l->number % LOADER_BUCKETS];

	while (*p != l)
		p = &(*p)->next_numbered;
	*p = l->next_numbered;
}

/* Takes out those that have been found gone; the lock is held. */
static void loaders_remove(void)
{
	struct loader **p, *l;
	unsigned int i, n = 0;

	for (i = 0; i < LOADER_BUCKETS; i++)
		for (p = &loaders[i]; (l = *p);) {
			if (!l->gone) {
				p = &l->next;
				continue;
			}
			__atomic_store_n(p, l->next, __ATOMIC_RELEASE);
			numbered_remove(l);
			l->next_gone = gone;
			gone = l;
			n++;
		}
	nr_alive -= n;
	sweep_at = 2 * nr_alive > SWEEP_MIN ? 2 * nr_alive : SWEEP_MIN;
	if (n)
		classes_forget();
}

void traced_sweep(JNIEnv *env)
{
	struct loader *l;
	unsigned int i;

	walk_begin();
	for (i = 0; i < LOADER_BUCKETS; i++)
		for (l = loader_first(i); l; l = loader_after(l))
			if ((*env)->IsSameObject(env, l->reference, NULL))
				__atomic_store_n(&l->gone, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&methods_lock);
	loaders_remove();
	pthread_mutex_unlock(&methods_lock);
	walk_end(env);
}

/* Methods ------------------------------------------------------------------------------------ */

static int entries_room(__u32 number)
{
	__u32 room = room_entries ? 2 * room_entries : 4096;
	struct entry *longer;

	if (number < room_entries)
		return 0;
	longer = realloc(entries, room * sizeof(*entries));
	if (!longer)
		return -ENOMEM;
	memset(longer + room_entries, 0, (room - room_entries) * sizeof(*longer));
	entries = longer;
	room_entries = room;
	return 0;
}

static struct traced *traced_add(struct traced_class *class, const struct choice_text *name,
				 const struct choice_text *descriptor)
{
	struct traced *m;

	if (last_number >= NUMBER_MAX || entries_room(last_number + 1) < 0)
		return NULL;
	m = calloc(1, sizeof(*m) + name->length + descriptor->length + 2);
	if (!m)
		return NULL;
	m->number = ++last_number;
	m->name_length = name->length;
	memcpy(m->text, name->text, name->length);
	memcpy(m->text + name->length + 1, descriptor->text, descriptor->length);
	m->next = class->methods;
	class->methods = m;
	entries[m->number] = (struct entry){m, class};
	return m;
}

struct traced *traced_get(struct traced_class *class, const struct choice_text *name,
			  const struct choice_text *descriptor)
{
	struct traced *m;

	for (m = class->methods; m; m = m->next) {
		const char *d = m->text + m->name_length + 1;

		if (m->name_length == name->length && !memcmp(m->text, name->text, name->length) &&
		    strlen(d) == descriptor->length &&
		    !memcmp(d, descriptor->text, descriptor->length))
			return m;
	}
	return traced_add(class, name, descriptor);
}

struct traced *traced_of_number(__u32 number, struct traced_class **class)
{
	*class = NULL;
	if (number >= room_entries)
		return NULL;
	*class = entries[number].class;
	return entries[number].method;
}

static __u32 name_intern_part(const char *text, size_t length)
{
	char utf8[NAME_UTF8_MAX];

	return text ? name_intern(utf8, utf8_of_modified(utf8, text, length)) : 0;
}

/* A method_def of it; 0: cannot be. */
static __u32 method_tell(struct traced_class *class, const struct jis_method *m)
{
	struct jis_ev_method_def fixed = {0};
	char text[NAME_UTF8_MAX];
	const char *part;
	size_t length;

	part = jis_class_utf8(m->class, m->name, &length);
	fixed.name = name_intern_part(part, part ? length : 0);
	part = jis_class_utf8(m->class, m->descriptor, &length);
	fixed.descriptor = name_intern_part(part, part ? length : 0);
	part = jis_class_source(m->class, &length);
	fixed.file = name_intern_part(part, part ? length : 0);
	return method_define(&fixed, text, utf8_of_modified(text, class->name, class->length));
}

static unsigned int traced_flags(const struct jis_method *m)
{
	unsigned int flags = 0;

	if (m->flags & ACC_STATIC)
		flags |= JIS_METHOD_STATIC;
	if (m->flags & ACC_SYNCHRONIZED)
		flags |= JIS_METHOD_SYNCHRONIZED;
	if (m->flags & ACC_SYNTHETIC)
		flags |= JIS_METHOD_SYNTHETIC;
	if (jis_class_utf8_is(m->class, m->name, "<init>"))
		flags |= JIS_METHOD_CONSTRUCTOR;
	if (jis_class_utf8_is(m->class, m->name, "<clinit>"))
		flags |= JIS_METHOD_INITIALIZER;
	if (m->marks & JIS_MARK_INTRINSIC)
		flags |= JIS_METHOD_INTRINSIC;
	return flags;
}

static int told_again(struct traced *method)
{
	return dict_write(JIS_EV_traced_method, &method->about, sizeof(method->about), NULL, 0);
}

int traced_tell(struct traced_class *class, struct traced *method, const struct jis_method *m,
		unsigned int flags)
{
	struct jis_ev_traced_method *record = &method->about;
	int first, last, error;

	flags |= traced_flags(m);
	if (method->told == agent.generation && record->flags == flags)
		return 0;
	if (method->told != agent.generation) {
		jis_method_lines(m, &first, &last);
		*record = (struct jis_ev_traced_method){.id = method->number,
							.method = method_tell(class, m),
							.loader = loader_name((long)class->loader),
							.code_bytes = m->code_length,
							.first_line = first,
							.last_line = last};
	}
	record->flags = flags;
	error = told_again(method);
	method->told = error ? 0 : agent.generation;
	return error;
}

void traced_restore(struct traced *method, unsigned int flags)
{
	if (method->told != agent.generation || method->about.flags == flags)
		return;
	method->about.flags = flags;
	told_again(method);
}

static void refused_tell(__u32 method, const char *why)
{
	struct jis_ev_method_refused record = {method, name_intern(why, strlen(why))};

	dict_write(JIS_EV_method_refused, &record, sizeof(record), NULL, 0);
}

void traced_tell_refused(struct traced_class *class, const struct jis_method *m, const char *why)
{
	refused_tell(method_tell(class, m), why);
}

void traced_tell_stuck(const struct traced *method, const char *why)
{
	refused_tell(method->about.method, why);
}

void traced_tell_left(const struct class_id *class, const char *name, const char *descriptor,
		      const char *file, const char *why)
{
	struct jis_ev_method_def fixed = {
		.name = name_intern_part(name, strlen(name)),
		.descriptor = name_intern_part(descriptor, strlen(descriptor)),
		.file = name_intern_part(file, file ? strlen(file) : 0),
	};
	char text[NAME_UTF8_MAX];

	refused_tell(method_define(&fixed, text,
				   utf8_of_modified(text, class->name, class->length)),
		     why);
}
