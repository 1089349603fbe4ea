/* SPDX-License-Identifier: MIT */
/*
 * Walks the methods of a class, asks the plan what to put into each, and writes the class anew.
 * Owns what is never rewritten. Nothing else of the class changes: no member is added, existing
 * constants keep their indexes. A method that is refused leaves no trace, not even a constant.
 */
#include "classfile_internal.h"

#include <errno.h>
#include <string.h>

struct code {
	const uint8_t *data; /* content of the Code attribute; NULL: no code */
	size_t size;
};

/* What is never rewritten -------------------------------------------------------------------- */

static int name_is(const char *name, size_t length, const char *wanted, int nested_too)
{
	size_t n = strlen(wanted);

	return length >= n && !memcmp(name, wanted, n) &&
	       (length == n || (nested_too && name[n] == '$'));
}

static const char *class_refused(const struct jis_class *c)
{
	size_t length;
	const char *name = jis_class_name(c, &length);

	if (!name)
		return "its class has no name";
	if (name_is(name, length, "java/lang/Object", 0))
		return "java.lang.Object is never rewritten";
	if (name_is(name, length, PROBE_CLASS, 0) || name_is(name, length, LINKED_CLASS, 0))
		return "the probes do not call themselves";
	if (name_is(name, length, "java/lang/VirtualThread", 1) ||
	    name_is(name, length, "jdk/internal/vm/Continuation", 1))
		return "the JVM switches stacks in this class";
	if (c->major == JIS_CLASS_MAJOR_MIN && u2_at(c->bytes + 4) < 3)
		return "class files before 45.3 have another form";
	return NULL;
}

static const char *method_refused(const struct jis_plan *plan, const struct jis_method *m)
{
	const char *why = class_refused(m->class);

	if (why)
		return why;
	if (m->marks & JIS_MARK_CHANGES_THREAD)
		return "it is marked ChangesCurrentThread";
	if (m->marks & JIS_MARK_MOUNT)
		return "it mounts virtual threads (JvmtiMountTransition)";
	if (m->marks & JIS_MARK_HIDDEN)
		return "it is marked Hidden";
	if (m->marks & JIS_MARK_RESERVED_STACK)
		return "it is marked ReservedStackAccess";
	if (m->marks & JIS_MARK_SCOPED)
		return "the JVM looks for it on stacks (Scoped)";
	if (m->marks & JIS_MARK_INTRINSIC && !(plan->options & JIS_PLAN_INTRINSICS))
		return "it is marked IntrinsicCandidate";
	return NULL;
}

/* One method --------------------------------------------------------------------------------- */

static void refuse(struct rewriter *rw, const struct jis_method *m, const char *why)
{
	rw->plan->nr_refused++;
	if (rw->plan->refused)
		rw->plan->refused(rw->plan->context, m, why);
}

static void forget(int *index, unsigned int nr_constants)
{
	if (*index >= (int)nr_constants)
		*index = 0;
}

/* Takes back the constants made since there were @nr_constants of @size bytes. */
static void constants_undo(struct rewriter *rw, unsigned int nr_constants, size_t size)
{
	rw->class.nr_constants = nr_constants;
	rw->class.appended.size = size;
	while (rw->nr_probes && rw->probes[rw->nr_probes - 1].index >= (int)nr_constants)
		rw->nr_probes--;
	forget(&rw->throwable, nr_constants);
	forget(&rw->object, nr_constants);
	forget(&rw->stack_map_name, nr_constants);
	forget(&rw->integer, nr_constants);
}

/* Whether what the method needs could not be allocated. */
static int out_of_memory(const struct rewriter *rw)
{
	const struct inserts *in = &rw->inserts;
	int failed = rw->map.failed | rw->flags.failed | rw->locals.failed | rw->ranges.failed |
		     rw->methods.failed | rw->class.appended.failed;
	unsigned int i;

	for (i = 0; i < NR_FRAGMENTS; i++)
		failed |= in->code[i].failed;
	return failed;
}

/* Writes the new content of a Code attribute; 1 when the method was changed. */
static int method_rewrite(struct rewriter *rw, const struct jis_method *m, const struct code *code)
{
	struct jis_call calls[JIS_CALLS_MAX];
	unsigned int n = rw->plan->choose(rw->plan->context, m, calls);
	unsigned int nr_constants = rw->class.nr_constants;
	size_t size = rw->class.appended.size;
	const char *why = NULL;

	if (!n && !(rw->plan->options & JIS_PLAN_ALL))
		return 0;
	if (n)
		why = n > JIS_CALLS_MAX ? "there are too many calls" : method_refused(rw->plan, m);
	if (!why)
		why = inserts_make(rw, m, calls, n);
	if (!why)
		why = code_rewrite(rw, m, code->data, code->size, &rw->methods);
	if (out_of_memory(rw))
		rw->error = -ENOMEM;
	if (!why)
		return 1;
	constants_undo(rw, nr_constants, size);
	if (n && *why)
		refuse(rw, m, why);
	return 0;
}

/* The attributes of the method: its code and its marks. */
static void method_look(const struct jis_class *c, struct jis_reader r, struct jis_method *m,
			struct code *code)
{
	struct jis_reader found = {NULL, 0, 0, 0};

	code->data = NULL;
	code->size = 0;
	m->attributes = r.at;
	m->marks = 0;
	m->code_length = 0;
	if (attribute_find(c, r, "RuntimeVisibleAnnotations", &found))
		m->marks = annotation_marks(c, &found);
	if (!attribute_find(c, r, "Code", &found))
		return;
	code->data = found.data;
	code->size = found.size;
	jis_read_u4(&found);
	m->code_length = jis_read_u4(&found);
}

static void attribute_write(struct rewriter *rw, const struct jis_method *m, struct jis_reader *r,
			    const struct code *code)
{
	unsigned int name = jis_read_u2(r);
	uint32_t size = jis_read_u4(r);
	const uint8_t *content = jis_read_bytes(r, size);
	size_t length_at;

	if (r->bad)
		return;
	jis_bytes_u2(&rw->methods, name);
	length_at = rw->methods.size;
	jis_bytes_u4(&rw->methods, size);
	if (code->data && content == code->data && method_rewrite(rw, m, code)) {
		jis_bytes_set_u4(&rw->methods, length_at,
				 (uint32_t)(rw->methods.size - length_at - 4));
		rw->plan->nr_rewritten++;
		return;
	}
	jis_bytes_put(&rw->methods, content, size);
}

/* The class ---------------------------------------------------------------------------------- */

static void methods_rewrite(struct rewriter *rw)
{
	struct jis_class *c = &rw->class;
	struct jis_reader r = {c->bytes, c->methods_end, c->methods, 0};
	unsigned int n = jis_read_u2(&r), attributes;
	struct jis_method m = {.class = c};
	struct code code;

	jis_bytes_u2(&rw->methods, n);
	while (n-- && !r.bad && !rw->error) {
		m.flags = jis_read_u2(&r);
		m.name = jis_read_u2(&r);
		m.descriptor = jis_read_u2(&r);
		method_look(c, r, &m, &code);
		attributes = jis_read_u2(&r);
		jis_bytes_u2(&rw->methods, m.flags);
		jis_bytes_u2(&rw->methods, m.name);
		jis_bytes_u2(&rw->methods, m.descriptor);
		jis_bytes_u2(&rw->methods, attributes);
		while (attributes-- && !r.bad && !rw->error)
			attribute_write(rw, &m, &r, &code);
	}
	if (r.bad)
		rw->error = -EBADMSG;
}

/* Puts the parts together: the old class with more constants and other methods. */
static int class_write(struct rewriter *rw, struct jis_bytes *out)
{
	const struct jis_class *c = &rw->class;

	jis_bytes_put(out, c->bytes, 8);
	jis_bytes_u2(out, c->nr_constants);
	jis_bytes_put(out, c->bytes + 10, c->constants_end - 10);
	jis_bytes_put(out, c->appended.data, c->appended.size);
	jis_bytes_put(out, c->bytes + c->constants_end, c->methods - c->constants_end);
	jis_bytes_put(out, rw->methods.data, rw->methods.size);
	jis_bytes_put(out, c->bytes + c->methods_end, c->size - c->methods_end);
	if (!out->failed && !out_of_memory(rw))
		return 0;
	jis_bytes_free(out);
	return -ENOMEM;
}

static void rewriter_free(struct rewriter *rw)
{
	unsigned int i;

	for (i = 0; i < NR_FRAGMENTS; i++)
		jis_bytes_free(&rw->inserts.code[i]);
	jis_bytes_free(&rw->map);
	jis_bytes_free(&rw->flags);
	jis_bytes_free(&rw->locals);
	jis_bytes_free(&rw->ranges);
	jis_bytes_free(&rw->methods);
	jis_class_free(&rw->class);
}

int jis_class_rewrite(const void *bytes, size_t size, struct jis_plan *plan, struct jis_bytes *out)
{
	struct rewriter rw = {.plan = plan};

	plan->nr_rewritten = 0;
	plan->nr_refused = 0;
	rw.error = jis_class_parse(&rw.class, bytes, size);
	if (!rw.error)
		methods_rewrite(&rw);
	if (!rw.error && plan->nr_rewritten)
		rw.error = class_write(&rw, out);
	rewriter_free(&rw);
	return rw.error ? rw.error : (int)plan->nr_rewritten;
}

/* Hooks at method entry ---------------------------------------------------------------------- */

static unsigned int hook_choose(void *context, const struct jis_method *m, struct jis_call *call)
{
	struct jis_entry_hook *hook = context;
	unsigned int i, n;

	if ((hook->method && !jis_class_utf8_is(m->class, m->name, hook->method)) ||
	    (hook->descriptor && !jis_class_utf8_is(m->class, m->descriptor, hook->descriptor)))
		return 0;
	call->places = hook->places ? hook->places : JIS_AT_ENTRY;
	call->class = hook->probe_class;
	call->method = hook->probe_method;
	call->descriptor = hook->probe_descriptor;
	call->nr_args = 0;
	if (hook->result)
		call->args[call->nr_args++] = (struct jis_arg){.kind = JIS_ARG_RESULT};
	n = hook->nr_locals < JIS_HOOK_LOCALS ? hook->nr_locals : JIS_HOOK_LOCALS;
	for (i = 0; i < n; i++)
		call->args[call->nr_args++] =
			(struct jis_arg){.kind = JIS_ARG_LOCAL, .value = hook->locals[i]};
	n = hook->nr_more < JIS_HOOK_MORE ? hook->nr_more : JIS_HOOK_MORE;
	for (i = 0; i < n; i++)
		call->args[call->nr_args++] = hook->more[i];
	if (hook->numbered)
		call->args[call->nr_args++] =
			(struct jis_arg){.kind = JIS_ARG_NUMBER, .value = hook->next_number++};
	return 1;
}

static void hook_refused(void *context, const struct jis_method *m, const char *why)
{
	struct jis_entry_hook *hook = context;

	hook->next_number -= !!hook->numbered;
	hook->why = why;
}

int jis_class_hook_entries(const void *bytes, size_t size, struct jis_entry_hook *hook,
			   struct jis_bytes *out)
{
	struct jis_plan plan = {.choose = hook_choose,
				.refused = hook_refused,
				.context = hook,
				/* Hooks are for chosen methods, of which the caller knows best. */
				.options = JIS_PLAN_INTRINSICS | JIS_PLAN_HUGE};
	int n;

	hook->why = NULL;
	n = jis_class_rewrite(bytes, size, &plan, out);
	hook->hooked = plan.nr_rewritten;
	hook->refused = plan.nr_refused;
	return n;
}
