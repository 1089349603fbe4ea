/* SPDX-License-Identifier: MIT */
/*
 * Numbers of loaders and methods, and what is above classes, with a JVM of our own: its loaders
 * may share a hash and may die, also while others ask.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/methods.h"
#include "agent/waits.h"

#define LOADERS 400
#define KINDS 300 /* classes of the graph */

struct agent agent;

/* Loaders; a weak reference is one of weak[], and finds its loader for as long as that lives. */
static struct _jobject {
	char unused;
} objects[LOADERS], weak[LOADERS], kinds[KINDS];
static int dead[LOADERS], referred[LOADERS], nr_weak;
static jint hash_of[LOADERS];
static pthread_mutex_t jvm_lock = PTHREAD_MUTEX_INITIALIZER;

/* The graph: what each class extends and implements. */
static int super_of[KINDS], interfaces_of[KINDS][2], nr_interfaces[KINDS], references;

/* What was written. */
static struct jis_ev_traced_method told[8];
static unsigned int nr_told, nr_refused;
static int dictionary_error;

static int loader_index(const struct _jobject *o)
{
	return (int)(o - objects);
}

static jobject JNICALL fake_new_weak(JNIEnv *env, jobject reference)
{
	(void)env;
	pthread_mutex_lock(&jvm_lock);
	referred[loader_index(reference)]++;
	nr_weak++;
	pthread_mutex_unlock(&jvm_lock);
	return &weak[loader_index(reference)];
}

static void JNICALL fake_delete_weak(JNIEnv *env, jweak reference)
{
	(void)env;
	ck_assert(reference >= weak && reference < weak + LOADERS);
	pthread_mutex_lock(&jvm_lock);
	ck_assert_int_gt(referred[reference - weak]--, 0);
	nr_weak--;
	pthread_mutex_unlock(&jvm_lock);
}

static jboolean JNICALL fake_same(JNIEnv *env, jobject a, jobject b)
{
	int is_dead;

	(void)env;
	ck_assert(a >= weak && a < weak + LOADERS);
	pthread_mutex_lock(&jvm_lock);
	is_dead = dead[a - weak];
	ck_assert_int_gt(referred[a - weak], 0);
	pthread_mutex_unlock(&jvm_lock);
	return b ? !is_dead && b - objects == a - weak : is_dead != 0;
}

static jclass JNICALL fake_class_of(JNIEnv *env, jobject object)
{
	(void)env;
	return object;
}

static void JNICALL fake_delete_local(JNIEnv *env, jobject reference)
{
	(void)env;
	if (reference >= kinds && reference < kinds + KINDS)
		references--;
}

static jvmtiError JNICALL fake_hash(jvmtiEnv *jvmti, jobject object, jint *hash)
{
	(void)jvmti;
	*hash = hash_of[loader_index(object)];
	return JVMTI_ERROR_NONE;
}

static jclass JNICALL fake_super(JNIEnv *env, jclass class)
{
	int super = super_of[class - kinds];

	(void)env;
	if (super < 0)
		return NULL;
	references++;
	return &kinds[super];
}

static jvmtiError JNICALL fake_interfaces(jvmtiEnv *jvmti, jclass class, jint *n, jclass **out)
{
	int i, at = (int)(class - kinds);

	(void)jvmti;
	*n = nr_interfaces[at];
	*out = malloc(sizeof(**out) * 2);
	for (i = 0; i < *n; i++)
		(*out)[i] = &kinds[interfaces_of[at][i]];
	references += *n;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_signature(jvmtiEnv *jvmti, jclass class, char **signature,
					 char **generic)
{
	static const char *const text[] = {"Lcom/acme/Foo;", "Lcom/acme/Foo.0x12;", "[I"};

	(void)jvmti;
	(void)generic;
	*signature = strdup(text[class - kinds]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
	(void)jvmti;
	free(memory);
	return JVMTI_ERROR_NONE;
}

/* Parts of the agent that the table uses. */
size_t class_name_text(jclass class, char out[NAME_UTF8_MAX])
{
	if (class >= kinds && class < kinds + KINDS)
		return (size_t)sprintf(out, "k.K%d", (int)(class - kinds));
	return (size_t)sprintf(out, "Loader%d", loader_index(class));
}

size_t utf8_of_modified(char *out, const char *in, size_t length)
{
	memcpy(out, in, length);
	return length;
}

__u32 name_intern(const char *text, size_t length)
{
	(void)text;
	return (__u32)length;
}

__u32 method_define(struct jis_ev_method_def *fixed, const char *text, size_t length)
{
	(void)fixed;
	(void)text;
	return 1000 + (__u32)length;
}

int dict_write(unsigned int id, const void *fixed, size_t size, const char *text, size_t length)
{
	(void)text;
	(void)length;
	if (dictionary_error)
		return dictionary_error;
	if (id == JIS_EV_method_refused)
		nr_refused++;
	if (id == JIS_EV_traced_method && nr_told < 8) {
		ck_assert_uint_eq(size, sizeof(told[0]));
		memcpy(&told[nr_told++], fixed, size);
	}
	return 0;
}

static JNIEnv *the_env(void)
{
	static struct jvmtiInterface_1_ jvmti;
	static struct JNINativeInterface_ jni;
	static jvmtiEnv jvmti_env = &jvmti;
	static JNIEnv jni_env = &jni;
	int i;

	jvmti.GetObjectHashCode = fake_hash;
	jvmti.GetImplementedInterfaces = fake_interfaces;
	jvmti.GetClassSignature = fake_signature;
	jvmti.Deallocate = fake_deallocate;
	jni.NewWeakGlobalRef = fake_new_weak;
	jni.DeleteWeakGlobalRef = fake_delete_weak;
	jni.IsSameObject = fake_same;
	jni.GetObjectClass = fake_class_of;
	jni.GetSuperclass = fake_super;
	jni.DeleteLocalRef = fake_delete_local;
	agent.jvmti = &jvmti_env;
	agent.generation = 1;
	for (i = 0; i < LOADERS; i++)
		hash_of[i] = i / 4; /* four each share one */
	for (i = 0; i < KINDS; i++)
		super_of[i] = -1;
	return &jni_env;
}

static void die(int i)
{
	pthread_mutex_lock(&jvm_lock);
	dead[i] = 1;
	pthread_mutex_unlock(&jvm_lock);
}

static struct choice_text text(const char *s)
{
	return (struct choice_text){s, strlen(s)};
}

static struct traced *method(struct traced_class *c, const char *name, const char *descriptor)
{
	const struct choice_text n = text(name), d = text(descriptor);

	return traced_get(c, &n, &d);
}

static struct traced_class *class_of(long loader, const char *name, int make)
{
	return traced_class_get(loader, name, strlen(name), make);
}

START_TEST(loaders_of_one_hash_are_told_apart)
{
	JNIEnv *env = the_env();
	long numbers[8];
	int i, k;

	ck_assert_int_eq(loader_number(env, NULL), 0);
	ck_assert_uint_eq(loader_name(0), 0);
	for (i = 0; i < 8; i++) {
		numbers[i] = loader_number(env, &objects[i]);
		ck_assert_int_gt(numbers[i], 0);
		for (k = 0; k < i; k++)
			ck_assert_int_ne(numbers[i], numbers[k]);
		ck_assert_uint_eq(loader_name(numbers[i]), strlen("Loader0"));
	}
	for (i = 7; i >= 0; i--)
		ck_assert_int_eq(loader_number(env, &objects[i]), numbers[i]);
	ck_assert_int_eq(nr_weak, 8);
}
END_TEST

/* Of a loader that is gone classes and methods are forgotten; no number is another's later. */
START_TEST(what_is_gone_is_forgotten)
{
	JNIEnv *env = the_env();
	long one = loader_number(env, &objects[0]), other = loader_number(env, &objects[1]);
	struct traced_class *a = class_of(one, "a.A", 1), *b = class_of(other, "a.A", 1), *found;
	struct traced *first = method(a, "m", "()V"), *second = method(b, "m", "()V");
	__u32 n = first->number;

	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_eq(class_of(0, "a.A", 0), NULL);
	class_of(0, "boot.B", 1);
	die(0);
	traced_sweep(env);
	ck_assert_int_eq(nr_weak, 1);
	ck_assert_uint_eq(loader_name(one), 0);
	ck_assert_ptr_eq(class_of(one, "a.A", 0), NULL);
	ck_assert_ptr_eq(traced_of_number(n, &found), NULL);
	ck_assert_ptr_eq(found, NULL);
	ck_assert_ptr_eq(traced_of_number(second->number, &found), second);
	ck_assert_ptr_eq(found, b);
	ck_assert_ptr_nonnull(class_of(0, "boot.B", 0));
	ck_assert_int_gt(loader_number(env, &objects[2]), other);
	ck_assert_uint_eq(method(b, "n", "()V")->number, second->number + 1);
}
END_TEST

/* Nobody asks for it: when there are many, those that are gone are looked for. */
START_TEST(the_dead_do_not_pile_up)
{
	JNIEnv *env = the_env();
	int i, most = 0;

	for (i = 0; i < LOADERS; i++) {
		class_of(loader_number(env, &objects[i]), "a.A", 1);
		most = nr_weak > most ? nr_weak : most;
		die(i);
	}
	ck_assert_int_le(most, 64);
	traced_sweep(env);
	ck_assert_int_eq(nr_weak, 0);
	ck_assert_ptr_eq(traced_class_next(NULL), NULL);
}
END_TEST

START_TEST(each_method_has_a_number_of_its_own)
{
	struct traced_class *c = class_of(0, "a.A", 1), *d = class_of(0, "a.B", 1), *found;
	char name[16];
	__u32 i, first = method(c, "m0", "()V")->number;

	the_env();
	ck_assert_uint_ne(method(c, "m0", "(I)V")->number, first);
	ck_assert_uint_ne(method(d, "m0", "()V")->number, first);
	ck_assert_uint_eq(method(c, "m0", "()V")->number, first);
	ck_assert_uint_ne(method(c, "m0()", "V")->number, first);
	for (i = 0; i < 5000; i++) {
		sprintf(name, "n%u", i);
		ck_assert_uint_eq(method(d, name, "()V")->number, first + 4 + i);
	}
	for (i = 0; i < 5000; i += 7) {
		sprintf(name, "n%u", i);
		ck_assert_str_eq(traced_of_number(first + 4 + i, &found)->text, name);
		ck_assert_ptr_eq(found, d);
	}
	ck_assert_ptr_eq(traced_of_number(UINT32_MAX, &found), NULL);
	ck_assert_ptr_eq(traced_of_number(0, &found), NULL);
}
END_TEST

START_TEST(a_recording_is_told_once_and_of_changes)
{
	struct jis_class none = {0};
	const struct jis_method m = {.class = &none, .flags = 0x28, .code_length = 7};
	struct traced_class *c;
	struct traced *t;

	the_env();
	c = class_of(0, "a.A", 1);
	t = method(c, "m", "()V");
	dictionary_error = -ENOSPC;
	ck_assert_int_eq(traced_tell(c, t, &m, 0), -ENOSPC);
	dictionary_error = 0;
	ck_assert_int_eq(traced_tell(c, t, &m, 0), 0);
	ck_assert_int_eq(traced_tell(c, t, &m, 0), 0);
	ck_assert_uint_eq(nr_told, 1);
	ck_assert_uint_eq(told[0].id, t->number);
	ck_assert_uint_eq(told[0].method, 1000 + strlen("a.A"));
	ck_assert_uint_eq(told[0].code_bytes, 7);
	ck_assert_uint_eq(told[0].flags, JIS_METHOD_STATIC | JIS_METHOD_SYNCHRONIZED);
	/* Other flags, which then do not come true. */
	traced_tell(c, t, &m, JIS_METHOD_LIBRARY);
	ck_assert_uint_eq(nr_told, 2);
	ck_assert_uint_eq(told[1].flags, told[0].flags | JIS_METHOD_LIBRARY);
	traced_restore(t, told[0].flags);
	traced_restore(t, told[0].flags);
	ck_assert_uint_eq(nr_told, 3);
	ck_assert_uint_eq(told[2].flags, told[0].flags);
	/* Another recording's dictionary has it not. */
	agent.generation = 2;
	traced_restore(t, 0);
	ck_assert_uint_eq(nr_told, 3);
	traced_tell(c, t, &m, 0);
	ck_assert_uint_eq(nr_told, 4);
	traced_tell_stuck(t, "why");
	traced_tell_refused(c, &m, "why");
	ck_assert_uint_eq(nr_refused, 2);
}
END_TEST

START_TEST(names_are_as_java_has_them)
{
	char name[32];

	the_env();
	ck_assert_uint_eq(class_dotted(&kinds[0], name, sizeof(name)), strlen("com.acme.Foo"));
	ck_assert_mem_eq(name, "com.acme.Foo", strlen("com.acme.Foo"));
	ck_assert_uint_eq(class_dotted(&kinds[1], name, sizeof(name)), strlen("com.acme.Foo/0x12"));
	ck_assert_mem_eq(name, "com.acme.Foo/0x12", strlen("com.acme.Foo/0x12"));
	ck_assert_uint_eq(class_dotted(&kinds[2], name, sizeof(name)), 0);
	ck_assert_uint_eq(class_dotted(&kinds[0], name, strlen("com.acme.Foo")), 0);
}
END_TEST

/* K0 extends K1 extends K2, K0 implements K3, which extends K4 as K1 does. */
static void graph(void)
{
	super_of[0] = 1;
	super_of[1] = 2;
	nr_interfaces[0] = nr_interfaces[1] = nr_interfaces[3] = 1;
	interfaces_of[0][0] = 3;
	interfaces_of[1][0] = interfaces_of[3][0] = 4;
}

START_TEST(rules_see_all_that_is_above)
{
	const struct class_id id = {0, "k.K0", 4}, alone = {0, "k.K5", 4};
	struct choice_text names[SUPERS_MAX];
	struct choice choice = {0};
	struct traced_class *c;
	struct supers *s, *other;
	JNIEnv *env = the_env();
	char why[128];

	graph();
	ck_assert_int_eq(choice_add(&choice, "subtypes:k.K4,subtypes:k.K9,a.*", why, sizeof(why)),
			 0);
	s = supers_ask(env, &kinds[0]);
	other = supers_ask(env, &kinds[5]);
	ck_assert_int_eq(references, 0);
	ck_assert(supers_keep(&choice, s, &id, 0));
	ck_assert(!supers_keep(&choice, s, &id, 1)); /* by the second rule */
	ck_assert(!supers_keep(&choice, other, &alone, 0));
	ck_assert_ptr_eq(class_of(0, "k.K5", 0), NULL);
	c = class_of(0, "k.K0", 0);
	ck_assert_uint_eq(supers_list(c, names), 6); /* K4 by both ways */
	ck_assert_uint_eq(supers_rules(&choice, c), 1);
	ck_assert_uint_eq(supers_rules(&choice, NULL), 0);
	free(s);
	free(other);
	choice_free(&choice);
}
END_TEST

static unsigned int nr_above(JNIEnv *env)
{
	const struct class_id id = {0, "k.K0", 4};
	struct choice_text names[SUPERS_MAX];
	struct choice choice = {0};
	struct supers *s = supers_ask(env, &kinds[0]);
	unsigned int n;
	char why[128];

	ck_assert_int_eq(choice_add(&choice, "subtypes:k.K1", why, sizeof(why)), 0);
	ck_assert_int_eq(references, 0);
	ck_assert(supers_keep(&choice, s, &id, 0));
	n = supers_list(class_of(0, "k.K0", 0), names);
	free(s);
	choice_free(&choice);
	return n;
}

START_TEST(a_long_chain_is_cut)
{
	JNIEnv *env = the_env();
	int i;

	for (i = 0; i < KINDS - 1; i++)
		super_of[i] = i + 1;
	ck_assert_uint_eq(nr_above(env), 65); /* itself and 64 */
}
END_TEST

/* More classes above than are kept: cut, and no reference stays. */
START_TEST(what_is_above_is_bounded)
{
	JNIEnv *env = the_env();
	int i;

	/* Each implements the next two: paths without number. */
	for (i = 0; i < KINDS - 2; i++) {
		nr_interfaces[i] = 2;
		interfaces_of[i][0] = i + 1;
		interfaces_of[i][1] = i + 2;
	}
	ck_assert_uint_eq(nr_above(env), SUPERS_MAX);
}
END_TEST

/* Half the loaders live on: those have one number each, whoever asks, while the others die. */
static long number_seen[LOADERS];

static void *asker(void *env)
{
	int round, i;

	for (round = 0; round < 40; round++)
		for (i = 0; i < LOADERS; i += 2) {
			long is = loader_number(env, &objects[i]);
			long before = 0;

			ck_assert_int_gt(is, 0);
			if (!__atomic_compare_exchange_n(&number_seen[i], &before, is, 0,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				ck_assert_int_eq(before, is);
		}
	return NULL;
}

START_TEST(threads_agree_while_loaders_die)
{
	JNIEnv *env = the_env();
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, asker, env), 0);
	for (i = 1; i < LOADERS; i += 2) {
		ck_assert_int_gt(loader_number(env, &objects[i]), 0);
		die(i);
		traced_sweep(env);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	traced_sweep(env);
	ck_assert_int_eq(nr_weak, LOADERS / 2);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("table");
	Suite *s = suite_create("numbers of loaders and methods");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, loaders_of_one_hash_are_told_apart);
	tcase_add_test(t, what_is_gone_is_forgotten);
	tcase_add_test(t, the_dead_do_not_pile_up);
	tcase_add_test(t, each_method_has_a_number_of_its_own);
	tcase_add_test(t, a_recording_is_told_once_and_of_changes);
	tcase_add_test(t, names_are_as_java_has_them);
	tcase_add_test(t, rules_see_all_that_is_above);
	tcase_add_test(t, a_long_chain_is_cut);
	tcase_add_test(t, what_is_above_is_bounded);
	tcase_add_test(t, threads_agree_while_loaders_die);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
