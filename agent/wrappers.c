/* SPDX-License-Identifier: MIT */
/*
 * The shortest way from compiled Java to a probe: a jump at the entry of the code that HotSpot has
 * made to call the native, to a C function that is called as compiled Java calls: the first
 * argument is where C has its second. The thread stays in the state "in Java", so that function
 * must not block, nor touch anything of Java, as none of the probes does.
 *
 * This writes into the JVM's code, so it must never write where it does not know every byte. The
 * Method is one whose native function, behind its end, is ours; the code is found by HotSpot's own
 * tables and lies in its code cache; it begins with what HotSpot 17 to 25 begins a native's code
 * with on x86-64, a store below the stack, 7 bytes, and the making of a frame; and it calls our
 * function.
 *
 * The jump, 5 bytes, lies within the first instruction, and in one aligned word of 8 bytes, which
 * is replaced by one compare-and-exchange. So a thread that comes by executes the old instruction
 * or the jump, and none can stand within it. HotSpot itself makes code not entrant this way, also
 * this one, over our jump, when it must: then calls go by JNI again. It is tried before any class
 * has a probe, and taken back if it does not do what it must.
 *
 * What the function does not do itself it leaves to the JVM's code: it jumps to a copy of the first
 * instruction near to it, and on to the second. There the thread also stops when the JVM wants it
 * to, which it does nowhere in our function (see PROBE in probes.c).
 *
 * Code of natives is not thrown away for being cold (17: the sweeper leaves it out; 21, 25:
 * nmethod::is_cold() does), and a class of the boot loader is not unloaded. What the jump leaves
 * out is the barrier at the code's entry, which is for objects that the code behind it uses.
 */
#include "compat.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "methods.h"
#include "waits.h"

#if defined(__x86_64__)

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define WARM_CALLS 20000
#define CODE_HEAD 64u	 /* bytes that are looked at */
#define CODE_MAX 1024u	 /* within which our function is called */
#define NMETHOD_MAX 4096 /* from nmethod to entry */
#define STEP (1ull << 20)
#define REACH ((1ull << 31) - (1ull << 24))
#define JUMP_SIZE 5u
#define FAR_JUMP_SIZE 16u
#define HEAD_SIZE 7u	   /* of the first instruction */
#define NEAR_CODE_SIZE 32u /* of one native: a far jump, and how to go on */

/* One native, and where it was patched. */
static struct site {
	__u64 entry;
	unsigned char head[HEAD_SIZE]; /* what is there unless it is patched */
	__u64 *word;		       /* holds the jump; NULL: none has been made */
	__u64 was, is;
	const unsigned char *near; /* our code near it */
} sites[WRAPPERS_MAX];

static struct {
	long method_size, code, from_compiled;
	__u64 low, high; /* of the code cache */
} layout;

/*
 * Where a leaf goes on to while that is tried: notes the stack and the argument it comes with.
 * jis_leaf_try() calls one as compiled Java does, and notes the stack it is to come with.
 */
__u64 jis_leaf_came, jis_leaf_expected;
__u32 jis_leaf_number;
void jis_leaf_came_by(long unused, jint number);
void jis_leaf_try(void (*leaf)(long unused, jint), jint number);

__asm__(".pushsection .text\n"
	".type jis_leaf_came_by, @function\n"
	"jis_leaf_came_by:\n"
	"	mov %rsp, jis_leaf_came(%rip)\n"
	"	mov %esi, jis_leaf_number(%rip)\n"
	"	ret\n"
	".type jis_leaf_try, @function\n"
	"jis_leaf_try:\n"
	"	sub $8, %rsp\n"
	"	lea -8(%rsp), %rax\n"
	"	mov %rax, jis_leaf_expected(%rip)\n"
	"	mov %rdi, %rax\n"
	"	call *%rax\n"
	"	add $8, %rsp\n"
	"	ret\n"
	".popsection\n");

/*
 * Do all leaves go on by a jump, which the compiler alone can see to? The JVM's code is to find the
 * stack as it was. Tried but once, before any class calls one, as nothing is recorded meanwhile.
 */
static int leaves_jump(const struct wrapper *wrappers, unsigned int n)
{
	static int tried, good;
	unsigned int i;

	good = tried ? good : 1;
	for (i = 0; !tried && i < n; i++) {
		*wrappers[i].leaf_on = jis_leaf_came_by;
		jis_leaf_came = jis_leaf_number = 0;
		jis_leaf_try(wrappers[i].leaf, (jint)JIS_METHOD_UNWOUND);
		good = good && jis_leaf_came == jis_leaf_expected &&
		       jis_leaf_number == JIS_METHOD_UNWOUND;
	}
	tried = 1;
	return good;
}

static int layout_find(void)
{
	long unused;
	const void *low = vm_field("CodeCache", "_low_bound", &unused);
	const void *high = vm_field("CodeCache", "_high_bound", &unused);

	layout.method_size = (long)vm_type_size("Method");
	vm_field("Method", "_code", &layout.code);
	vm_field("Method", "_from_compiled_entry", &layout.from_compiled);
	if (!low || !high || layout.method_size <= 0 || layout.code <= 0 ||
	    layout.from_compiled <= 0 || layout.code >= layout.method_size ||
	    layout.from_compiled >= layout.method_size)
		return -ENOENT;
	layout.low = *(const __u64 *)low;
	layout.high = *(const __u64 *)high;
	return layout.low && layout.low < layout.high && layout.high - layout.low < REACH ? 0
											  : -ENOENT;
}

/* The JVM's Method of a native whose function is known to be ours; 0: it is not that. */
static __u64 method_of(jmethodID id, const struct wrapper *w)
{
	__u64 method = 0, function = 0;

	if (vm_read((__u64)(uintptr_t)id, &method, sizeof(method)) < 0 || !method || method % 8 ||
	    vm_read(method + (__u64)layout.method_size, &function, sizeof(function)) < 0)
		return 0;
	return function == (__u64)(uintptr_t)w->jni ? method : 0;
}

static int in_cache(__u64 address)
{
	return address >= layout.low && address < layout.high;
}

/* Entry of its code; 0: there is none yet. */
static __u64 entry_of(__u64 method)
{
	__u64 code = 0, entry = 0;

	if (vm_read(method + (__u64)layout.code, &code, sizeof(code)) < 0 || !code ||
	    vm_read(method + (__u64)layout.from_compiled, &entry, sizeof(entry)) < 0)
		return 0;
	return entry;
}

/* Calls the native until the JVM has made code for it, which it does in the calling thread. */
static __u64 entry_make(JNIEnv *env, jclass class, jmethodID id, __u64 method)
{
	__u64 entry = 0;
	int i;

	for (i = 0; i < WARM_CALLS && !entry && agent_recording(); i++) {
		(*env)->CallStaticVoidMethod(env, class, id, (jint)0);
		exception_clear(env);
		if (i % 64 == 0)
			entry = entry_of(method);
	}
	return entry;
}

/* "mov %eax, -N(%rsp); push %rbp; mov %rsp, %rbp; sub $M, %rsp" as HotSpot encodes it? */
static int head_known(const unsigned char *b)
{
	static const unsigned char frame[] = {0x55, 0x48, 0x8b, 0xec, 0x48};
	int32_t below, size;

	memcpy(&below, b + 3, sizeof(below));
	if (b[0] != 0x89 || b[1] != 0x84 || b[2] != 0x24 || below >= 0 || below < -(1 << 20) ||
	    below % 4096)
		return 0;
	if (memcmp(b + 7, frame, sizeof(frame)) || b[13] != 0xec)
		return 0;
	if (b[12] == 0x83)
		return b[14] && b[14] < 0x80 && b[14] % 16 == 0;
	memcpy(&size, b + 14, sizeof(size));
	return b[12] == 0x81 && size > 0 && size < 4096 && size % 16 == 0;
}

/* Is @function called there, by "mov $function, reg; call *reg" or by "call function"? */
static int calls(const unsigned char *code, size_t n, __u64 entry, const void *function)
{
	__u64 wanted = (__u64)(uintptr_t)function;
	int32_t distance;
	size_t i;

	for (i = 0; function && i + 8 <= n; i++) {
		if (!memcmp(code + i, &wanted, sizeof(wanted)))
			return 1;
		memcpy(&distance, code + i + 1, sizeof(distance));
		if (code[i] == 0xe8 && entry + i + 5 + (__u64)(__s64)distance == wanted)
			return 1;
	}
	return 0;
}

/* May the JVM's code there be written and executed? */
static int writable(__u64 address)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long long from, to;
	char line[512], rights[8];
	int is = 0;

	while (f && !is && fgets(line, sizeof(line), f))
		is = sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && address >= from &&
		     address + 8 <= to && rights[0] == 'r' && rights[1] == 'w' && rights[2] == 'x';
	if (f)
		fclose(f);
	return is;
}

/* Is it the code of the native, every byte that matters? @head: its first HEAD_SIZE then. */
static int code_known(__u64 method, __u64 entry, const struct wrapper *w, unsigned char *head)
{
	unsigned char code[CODE_MAX];
	size_t n = sizeof(code);
	__u64 nmethod = 0;

	if (!in_cache(entry) || entry % 8 > 8 - JUMP_SIZE ||
	    vm_read(method + (__u64)layout.code, &nmethod, sizeof(nmethod)) < 0 ||
	    !in_cache(nmethod) || nmethod >= entry || entry - nmethod > NMETHOD_MAX)
		return 0;
	if (layout.high - entry < n)
		n = (size_t)(layout.high - entry);
	if (n < CODE_HEAD || vm_read(entry, code, n) < 0 || !head_known(code))
		return 0;
	memcpy(head, code, HEAD_SIZE);
	return (calls(code, n, entry, w->jni) || calls(code, n, entry, w->critical)) &&
	       writable(entry & ~7ull);
}

/* Jumps --------------------------------------------------------------------------------------- */

static unsigned char *page_at(__u64 address, size_t size)
{
	void *wanted = (void *)(uintptr_t)address, *page;

	page = mmap(wanted, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page == wanted)
		return page;
	if (page != MAP_FAILED) /* an older kernel takes the address as a hint */
		munmap(page, size);
	return NULL;
}

/* A page that all of the code cache can jump to. */
static unsigned char *page_near(size_t size)
{
	unsigned char *page = NULL;
	__u64 distance, low = layout.low & ~4095ull, high = (layout.high + 4095) & ~4095ull;

	for (distance = STEP; !page && distance < REACH - (layout.high - layout.low);
	     distance += STEP) {
		if (low > distance)
			page = page_at(low - distance, size);
		if (!page)
			page = page_at(high + distance, size);
	}
	return page;
}

/* What a jump at @from has for its way to @to; 0: it does not reach it. */
static int32_t jump_distance(__u64 from, const void *to)
{
	__s64 distance = (__s64)((__u64)(uintptr_t)to - from) - (__s64)JUMP_SIZE;

	return distance == (int32_t)distance ? (int32_t)distance : 0;
}

/* "mov $leaf, %rax; jmp *%rax"; and the first instruction, and a jump to the second. Returns 0 or
 * -ERANGE. */
static int near_code_write(unsigned char *p, const struct site *s, const struct wrapper *w)
{
	unsigned char *on = p + FAR_JUMP_SIZE;
	const void *second = (const void *)(uintptr_t)(s->entry + HEAD_SIZE);
	int32_t back = jump_distance((__u64)(uintptr_t)(on + HEAD_SIZE), second);

	p[0] = 0x48;
	p[1] = 0xb8;
	memcpy(p + 2, &w->leaf, 8);
	p[10] = 0xff;
	p[11] = 0xe0;
	memcpy(on, s->head, HEAD_SIZE);
	on[HEAD_SIZE] = 0xe9;
	memcpy(on + HEAD_SIZE + 1, &back, sizeof(back));
	return back ? 0 : -ERANGE;
}

/* The code near them of those that have none; written, and then executable, and there for good, as
 * a thread may be in it. */
static int near_code_make(const struct wrapper *wrappers, unsigned int n)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page, *p;
	unsigned int i, missing = 0;
	int error = 0;

	for (i = 0; i < n; i++)
		missing += !sites[i].near;
	if (!missing)
		return 0;
	page = page_near(size);
	if (!page)
		return -ENOMEM;
	for (i = 0, p = page; !error && i < n; i++, p += NEAR_CODE_SIZE)
		error = near_code_write(p, &sites[i], &wrappers[i]);
	if (!error && mprotect(page, size, PROT_READ | PROT_EXEC) < 0)
		error = -EPERM;
	if (error) {
		munmap(page, size);
		return error;
	}
	for (i = 0, p = page; i < n; i++, p += NEAR_CODE_SIZE)
		sites[i].near = p;
	return 0;
}

/* To the leaf if that is near enough, which saves each call two instructions. */
static int jump_make(struct site *s, const struct wrapper *w)
{
	int32_t near = jump_distance(s->entry, (const void *)w->leaf);
	unsigned char bytes[8];
	__u64 *word = (__u64 *)(uintptr_t)(s->entry & ~7ull), was;

	if (!near)
		near = jump_distance(s->entry, s->near);
	if (!near)
		return -ERANGE;
	was = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	memcpy(bytes, &was, sizeof(was));
	if (memcmp(bytes + s->entry % 8, s->head, JUMP_SIZE)) /* the JVM has given it up */
		return -EAGAIN;
	bytes[s->entry % 8] = 0xe9;
	memcpy(bytes + s->entry % 8 + 1, &near, sizeof(near));
	s->was = was;
	memcpy(&s->is, bytes, sizeof(s->is));
	if (!__atomic_compare_exchange_n(word, &was, s->is, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return -EAGAIN;
	s->word = word;
	return 0;
}

/* Back to what it was, unless the JVM has written there since. */
static void jump_undo(struct site *s)
{
	__u64 is = s->is;

	if (s->word && in_cache((__u64)(uintptr_t)s->word))
		__atomic_compare_exchange_n(s->word, &is, s->was, 0, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	s->word = NULL;
}

void wrappers_restore(void)
{
	unsigned int i;

	for (i = 0; i < WRAPPERS_MAX; i++)
		jump_undo(&sites[i]);
}

/* Of a former recording: is it as we left it? */
static int still_there(const struct site *s, __u64 method)
{
	return s->word && entry_of(method) == s->entry &&
	       __atomic_load_n(s->word, __ATOMIC_ACQUIRE) == s->is;
}

static int wrapper_find(JNIEnv *env, jclass class, const struct wrapper *w, struct site *s)
{
	jmethodID id = (*env)->GetStaticMethodID(env, class, w->name, "(I)V");
	unsigned char head[HEAD_SIZE];
	__u64 method, entry;

	exception_clear(env);
	method = id ? method_of(id, w) : 0;
	if (!method)
		return -ENOENT;
	if (still_there(s, method))
		return 0;
	s->word = NULL; /* if the JVM has given it up, it is no longer ours */
	entry = entry_make(env, class, id, method);
	if (!entry || !code_known(method, entry, w, head))
		return -ENOENT;
	if (entry != s->entry || memcmp(head, s->head, HEAD_SIZE))
		s->near = NULL;
	s->entry = entry;
	memcpy(s->head, head, HEAD_SIZE);
	return 0;
}

static int all_find(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	jclass class = (*env)->FindClass(env, PROBE_CLASS);
	int error = class ? 0 : -ENOENT;
	unsigned int i;

	exception_clear(env);
	for (i = 0; !error && i < n; i++)
		error = wrapper_find(env, class, &wrappers[i], &sites[i]);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return error;
}

/* Has leaves that did nothing go on in the JVM's code that they were called instead of. */
static void go_on(const struct wrapper *w, const struct site *s)
{
	void (*on)(long, jint);
	const unsigned char *code = s->near + FAR_JUMP_SIZE;

	memcpy(&on, &code, sizeof(on));
	__atomic_store_n(w->leaf_on, on, __ATOMIC_RELEASE);
}

int wrappers_patch(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	unsigned int i;
	int error;

	if (n > WRAPPERS_MAX || !agent.hotspot || vm_flag("UseCompiler") != 1)
		return -ENOTSUP;
	error = leaves_jump(wrappers, n) ? layout_find() : -ENOTSUP;
	if (!error)
		error = all_find(env, wrappers, n);
	if (!error)
		error = near_code_make(wrappers, n);
	for (i = 0; !error && i < n; i++)
		go_on(&wrappers[i], &sites[i]);
	for (i = 0; !error && i < n; i++)
		if (!sites[i].word)
			error = jump_make(&sites[i], &wrappers[i]);
	if (error)
		wrappers_restore();
	return error;
}

#else /* !__x86_64__ */

int wrappers_patch(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	return -ENOTSUP;
}

void wrappers_restore(void)
{
}

#endif
