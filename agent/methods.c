/* SPDX-License-Identifier: MIT */
/*
 * Traced methods: which they are, and putting the probes into their classes and taking them out
 * again. A class that is loaded is rewritten on its way, one that is there already is
 * retransformed; all that one choice concerns by one request. Only code and constants change, so a
 * class can be had back as it was.
 */
#include "compat.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "families.h"
#include "methods.h"
#include "methods_pass.h"
#include "retransform.h"
#include "values.h"
#include "waits.h"

#define LATER_WAIT_MS 1000

static struct choice choice;	     /* under methods_lock, as all here */
static int methods_on;		     /* classes that come by are rewritten */
static int installed;		     /* classes that come late are rewritten at once */
static unsigned int nr_late;	     /* classes that are */
static struct traced_class *settled; /* classes of the request under way */

/* A change under way, which its own thread makes. */
static struct {
	int running;
	pthread_t thread;
	unsigned int asked;
	__u32 enabled, disabled;
} change;

/* Rewriting ---------------------------------------------------------------------------------- */

static int is_change(void)
{
	return change.running && pthread_equal(change.thread, pthread_self());
}

static void off_tell(const struct traced *m)
{
	struct jis_ev_method_off record = {.method = m->number, .asked = change.asked};

	if (!m->off) /* else it has been told already */
		dict_write(JIS_EV_method_off, &record, sizeof(record), NULL, 0);
}

static unsigned int method_flags(const struct pick *p)
{
	return (p->result & CHOICE_LIBRARY ? JIS_METHOD_LIBRARY : 0) |
	       (p->result & CHOICE_MARK ? JIS_METHOD_MARK : 0) | (p->tells ? JIS_METHOD_VALUES : 0);
}

/* What comes of it is known when the request is over. */
static void settled_add(struct traced_class *c)
{
	struct traced *m;

	if (c->settled)
		return;
	c->settled = 1;
	c->next_settled = settled;
	settled = c;
	for (m = c->methods; m; m = m->next)
		m->was = m->present;
}

/* What has been told of the methods of a class that a request may change. */
static void flags_keep(struct traced_class *c)
{
	struct traced *m;

	for (m = c && !c->settled ? c->methods : NULL; m; m = m->next)
		m->flags_was = m->about.flags;
}

/* The class gets the probes of the picks, and no others, if it gets its new bytes. */
static void class_settle(struct pass *pass, int rewritten)
{
	struct traced *m;
	unsigned int i;

	if (!pass->class)
		return;
	if (is_change())
		settled_add(pass->class);
	for (m = pass->class->methods; m; m = m->next)
		m->wanted = 0;
	for (i = 0; rewritten && i < pass->nr_picks; i++)
		pass->picks[i].method->wanted = 1;
	pass->class->nr_present = 0;
	for (m = pass->class->methods; m; m = m->next) {
		m->present = m->wanted;
		pass->class->nr_present += m->present;
	}
}

/* One method of a class whose request is over. @why: it has been refused for good. Returns whether
 * that has been told. */
static int method_settled(struct traced *m, int done, const char *why)
{
	int refused = why && m->present && !m->was;

	if (done) {
		change.enabled += m->present && !m->was;
		change.disabled += !m->present && m->was;
	}
	if (!done && m->was)
		traced_restore(m, m->flags_was);
	/* Of one that was told and has come to nothing this tells too. */
	if (done ? !m->present && m->was : refused)
		off_tell(m);
	if (refused)
		traced_tell_stuck(m, why);
	if (!done)
		m->present = m->was;
	return refused;
}

/* A request is over: where it was refused, its classes have what they had. Under the lock. Returns
 * whether it has been told of a method that it is refused. */
static int settle_all(int done, const char *why)
{
	struct traced_class *c;
	int told = 0;
	struct traced *m;

	while ((c = settled)) {
		settled = c->next_settled;
		c->settled = 0;
		c->nr_present = 0;
		for (m = c->methods; m; m = m->next) {
			told |= method_settled(m, done, why);
			c->nr_present += m->present;
		}
	}
	return told;
}

/* Those that cannot be told are not rewritten: their calls would mean nothing. */
static int picks_tell(struct pass *pass)
{
	unsigned int i;

	for (i = 0; i < pass->nr_picks; i++) {
		struct pick *p = &pass->picks[i];

		if (traced_tell(pass->class, p->method, &p->about, method_flags(p)) < 0)
			return -ENOBUFS;
	}
	return 0;
}

/* Returns whether @bytes were replaced. */
static int class_rewrite(struct pass *pass, struct jis_bytes *bytes)
{
	struct jis_plan plan = {.choose = pass_method,
				.refused = pass_refused,
				.context = pass,
				.options = choice.intrinsics ? JIS_PLAN_INTRINSICS : 0};
	struct jis_bytes out = {0};
	struct jis_class about = {0};
	unsigned int i;
	int n;

	/* What the picks point to is of a class that goes with the rewriting: they get another. */
	n = jis_class_rewrite(bytes->data, bytes->size, &plan, &out);
	if (n > 0 && jis_class_parse(&about, bytes->data, bytes->size) < 0)
		n = 0;
	for (i = 0; i < pass->nr_picks; i++)
		pass->picks[i].about.class = &about;
	if (n > 0 && picks_tell(pass) < 0)
		n = 0;
	jis_class_free(&about);
	if (n <= 0 || agent.methods_dry) {
		jis_bytes_free(&out);
		return 0;
	}
	jis_bytes_free(bytes);
	*bytes = out;
	return 1;
}

/* Name of the class, dotted, in @text; its length, 0: none. */
static size_t name_dotted(const char *name, const struct jis_bytes *bytes, char *text, size_t n)
{
	struct jis_class c = {0};
	size_t length = name ? strlen(name) : 0, i;

	if (!name && jis_class_parse(&c, bytes->data, bytes->size) == 0)
		name = jis_class_name(&c, &length);
	if (!name || length >= n)
		length = 0;
	for (i = 0; i < length; i++)
		text[i] = name[i] == '/' ? '.' : name[i];
	jis_class_free(&c);
	return length;
}

static int class_pass(struct pass *pass, struct jis_bytes *bytes)
{
	int done = 0;

	pass->class = traced_class_get(pass->loader, pass->name, pass->length, 0);
	if (is_change())
		flags_keep(pass->class);
	if (methods_on)
		supers_guess(&choice, &pass->class,
			     &(struct class_id){pass->loader, pass->name, pass->length}, bytes);
	if (methods_on && (pass->class || choice_class(&choice, pass->name, pass->length) ||
			   choice_needs(&choice, 0, CHOICE_ANNOTATION)))
		done = class_rewrite(pass, bytes);
	class_settle(pass, done);
	return done;
}

int methods_put(JNIEnv *env, jclass redefined, jobject loader, const char *name,
		struct jis_bytes *bytes)
{
	char text[NAME_MODIFIED_MAX];
	struct pass *pass;
	int done = 0;

	if (!(agent.features & JIS_FEATURE_METHODS))
		return 0;
	pass = calloc(1, sizeof(*pass));
	if (!pass)
		return 0;
	pass->choice = &choice;
	pass->nr_class_annotations = -1;
	pass->name = text;
	pass->length = name_dotted(name, bytes, text, sizeof(text));
	pass->loader = pass->length ? loader_number(env, loader) : -1;
	if (pass->loader >= 0) {
		pthread_mutex_lock(&methods_lock);
		done = class_pass(pass, bytes);
		passing_seen(pass->loader, pass->name, pass->length, redefined != NULL);
		pthread_mutex_unlock(&methods_lock);
	}
	free(pass->picks);
	free(pass);
	return done;
}

/* Classes that are prepared ------------------------------------------------------------------ */

static long class_loader(JNIEnv *env, jclass class)
{
	jobject loader = NULL;
	long number = -1;

	if (!(*agent.jvmti)->GetClassLoader(agent.jvmti, class, &loader))
		number = loader_number(env, loader);
	if (loader)
		(*env)->DeleteLocalRef(env, loader);
	return number;
}

/* Has a class that is prepared now to be rewritten? @supers: what is above it, NULL where no rule
 * asks for that. Under the lock. */
static int prepared_chosen(const struct class_id *id, const struct supers *supers)
{
	struct traced_class *c = traced_class_get(id->loader, id->name, id->length, 0);
	unsigned int guessed = supers_rules(&choice, c);
	int late = c && c->late, chosen;

	if (late) {
		c->late = 0;
		nr_late--;
	}
	chosen = supers && supers_keep(&choice, supers, id, 0) &&
		 supers_rules(&choice, traced_class_get(id->loader, id->name, id->length, 0)) !=
			 guessed;
	return late || chosen;
}

/* Its class file went by under other rules: do those there are now concern it? */
static int class_overtaken(const struct class_id *id)
{
	const struct traced_class *c = traced_class_get(id->loader, id->name, id->length, 0);

	return (c && c->nr_present) || choice_class(&choice, id->name, id->length) ||
	       choice_needs(&choice, 0, CHOICE_ANNOTATION);
}

/* What has to be known of a class that is prepared; 0: nothing, methods are not traced. */
static int prepared_wants(int *supers)
{
	int on;

	pthread_mutex_lock(&methods_lock);
	on = methods_on;
	*supers = on && choice_needs(&choice, 0, CHOICE_SUBTYPES);
	pthread_mutex_unlock(&methods_lock);
	return on;
}

/* Returns whether it is to be rewritten. */
static int prepared_look(const struct class_id *id, const struct supers *supers)
{
	int chosen = 0, passed;

	pthread_mutex_lock(&methods_lock);
	if (methods_on) {
		passed = passing_prepared(id->loader, id->name, id->length);
		chosen = (nr_late || supers) && prepared_chosen(id, supers);
		/* Who makes a change prepares classes that it is just about to rewrite. */
		if (!passed && !chosen && !is_change())
			chosen = class_overtaken(id);
	}
	pthread_mutex_unlock(&methods_lock);
	return chosen;
}

/* Can the JVM have it rewritten? Else its chosen methods are told. */
static int class_modifiable(jclass class, const struct class_id *id)
{
	jboolean modifiable = JNI_FALSE;

	if ((*agent.jvmti)->IsModifiableClass(agent.jvmti, class, &modifiable))
		return 0;
	if (!modifiable)
		methods_left(&choice, class, id, NULL);
	return modifiable;
}

/* Returns whether it has been left for the control thread. */
static int prepared_later(JNIEnv *env, jclass class)
{
	char name[NAME_MODIFIED_MAX];
	struct supers *supers = NULL;
	struct class_id id = {-1, name, 0};
	int above = 0, chosen = 0;

	if (!prepared_wants(&above))
		return 0;
	id.length = class_dotted(class, name, sizeof(name));
	if (id.length)
		id.loader = class_loader(env, class);
	if (id.loader < 0)
		return 0;
	if (above)
		supers = supers_ask(env, class);
	chosen = prepared_look(&id, supers);
	free(supers);
	return chosen && class_modifiable(class, &id) && methods_later_add(env, class) == 0;
}

void methods_prepared(JNIEnv *env, jclass class)
{
	int added;

	if (!agent_enter())
		return;
	added = prepared_later(env, class);
	agent_leave();
	/* The control thread may be the one, and has its lock while it begins. */
	if (added && __atomic_load_n(&installed, __ATOMIC_ACQUIRE) &&
	    agent_tid() != agent_control_tid)
		methods_later_wait(LATER_WAIT_MS);
}

/* Classes that are there --------------------------------------------------------------------- */

/* Which classes are to be rewritten: those that rules from number first on may concern, those in
 * which a method is to go by its number, or, all being off, those with probes. */
struct selection {
	unsigned int first;
	int by_number;
};

/* The lock is held. */
static void late_set(struct traced_class *c, int late)
{
	nr_late += (unsigned int)(late - c->late);
	c->late = late != 0;
}

/*
 * One that is not prepared may never be: its code may not be right. None of it runs before. It is
 * marked, and then looked at: who prepares it sees the mark, or it is seen here to be prepared.
 */
static int class_is_late(jclass class, const struct class_id *id)
{
	struct traced_class *c;
	jint status = 0;
	int late;

	if (!(*agent.jvmti)->GetClassStatus(agent.jvmti, class, &status) &&
	    status & JVMTI_CLASS_STATUS_PREPARED)
		return 0;
	pthread_mutex_lock(&methods_lock);
	c = traced_class_get(id->loader, id->name, id->length, 1);
	if (c)
		late_set(c, 1);
	pthread_mutex_unlock(&methods_lock);
	if (!c)
		return 0;
	late = !(*agent.jvmti)->GetClassStatus(agent.jvmti, class, &status) &&
	       !(status & JVMTI_CLASS_STATUS_PREPARED);
	if (late)
		return 1;
	pthread_mutex_lock(&methods_lock);
	c = traced_class_get(id->loader, id->name, id->length, 0);
	if (c)
		late_set(c, 0);
	pthread_mutex_unlock(&methods_lock);
	return 0;
}

/* Does the selection concern a class? Under the lock. */
static int class_concerned(const struct class_id *id, const struct selection *s,
			   const struct supers *supers)
{
	const struct traced_class *c = traced_class_get(id->loader, id->name, id->length, 0);

	if (!methods_on)
		return c && c->nr_present && !c->stuck;
	if (s->by_number)
		return c && c->before;
	return (!s->first && c && c->nr_present) || /* it was stuck */
	       (s->first ? choice_concerns(&choice, s->first, id->name, id->length)
			 : choice_class(&choice, id->name, id->length)) ||
	       choice_needs(&choice, s->first, CHOICE_ANNOTATION) ||
	       (supers && supers_keep(&choice, supers, id, s->first));
}

/* What a request is for, once: rules change on the thread only that makes the requests. */
static void selection_wants(const struct selection *s, int *supers, int *on)
{
	pthread_mutex_lock(&methods_lock);
	*on = methods_on;
	*supers = *on && !s->by_number && choice_needs(&choice, s->first, CHOICE_SUBTYPES);
	pthread_mutex_unlock(&methods_lock);
}

static int class_selected(JNIEnv *env, jclass class, const struct selection *s, int above, int on)
{
	char name[NAME_MODIFIED_MAX];
	struct class_id id = {-1, name, class_dotted(class, name, sizeof(name))};
	struct supers *supers = NULL;
	int is;

	if (id.length)
		id.loader = class_loader(env, class);
	if (id.loader < 0)
		return 0;
	if (above)
		supers = supers_ask(env, class);
	pthread_mutex_lock(&methods_lock);
	is = class_concerned(&id, s, supers);
	pthread_mutex_unlock(&methods_lock);
	free(supers);
	return is && class_modifiable(class, &id) && !(on && class_is_late(class, &id));
}

static void on_request(JNIEnv *env, jclass *classes, jint n, jvmtiError error)
{
	char name[NAME_MODIFIED_MAX], why[80];
	struct traced_class *c = NULL;
	int told, on;
	size_t length = error && n == 1 ? class_dotted(classes[0], name, sizeof(name)) : 0;
	long loader = length ? class_loader(env, classes[0]) : -1;

	snprintf(why, sizeof(why), "the JVM refuses to rewrite its class (JVMTI error %d)", error);
	pthread_mutex_lock(&methods_lock);
	on = methods_on;
	told = settle_all(!error, error && n == 1 ? why : NULL);
	if (loader >= 0)
		c = traced_class_get(loader, name, length, 0);
	if (c)
		c->stuck = 1;
	pthread_mutex_unlock(&methods_lock);
	/* No hook of ours has come by, or it could not read what others had made of it. */
	if (loader >= 0 && on && !told)
		methods_left(&choice, classes[0], &(struct class_id){loader, name, length}, why);
}

static int classes_request(JNIEnv *env, jclass *classes, jint n)
{
	jvmtiError error;
	jint done = retransform(env, classes, n, on_request, &error);

	if (done < n && agent_recording())
		recorder_note("%d of %d classes cannot be rewritten (JVMTI error %d): methods of "
			      "them are not traced",
			      n - done, n, error);
	return done;
}

/* Returns how many were rewritten. */
static int classes_retransform(JNIEnv *env, const struct selection *s)
{
	jclass *classes = NULL;
	jint n = 0, i, chosen = 0;
	int done, above, on;

	if ((*env)->PushLocalFrame(env, 16) < 0) {
		exception_clear(env);
		return 0;
	}
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &classes))
		n = 0;
	if ((*env)->EnsureLocalCapacity(env, n + 64) < 0) {
		exception_clear(env);
		n = 0;
	}
	selection_wants(s, &above, &on);
	for (i = 0; i < n; i++) {
		if (class_selected(env, classes[i], s, above, on))
			classes[chosen++] = classes[i];
		else
			(*env)->DeleteLocalRef(env, classes[i]);
	}
	done = classes_request(env, classes, chosen);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)classes);
	(*env)->PopLocalFrame(env, NULL);
	return done;
}

/* Changes ------------------------------------------------------------------------------------ */

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

static void change_begin(unsigned int asked)
{
	change.thread = pthread_self();
	change.asked = asked;
	change.enabled = change.disabled = 0;
	__atomic_store_n(&change.running, 1, __ATOMIC_RELEASE);
}

void methods_rewrite_later(JNIEnv *env)
{
	jclass *classes;
	jint n;

	if ((*env)->PushLocalFrame(env, 16) < 0) {
		exception_clear(env);
		return;
	}
	classes = methods_later_take(env, &n);
	change_begin(JIS_METHODS_START);
	classes_request(env, classes, n);
	__atomic_store_n(&change.running, 0, __ATOMIC_RELEASE);
	methods_later_done();
	free(classes);
	(*env)->PopLocalFrame(env, NULL);
}

static void change_make(JNIEnv *env, unsigned int asked, const struct selection *s,
			struct jis_ev_methods_changed *record)
{
	__u64 begin = now_ns();

	change_begin(asked);
	record->asked = asked;
	record->classes = (__u32)classes_retransform(env, s);
	__atomic_store_n(&change.running, 0, __ATOMIC_RELEASE);
	record->enabled = change.enabled;
	record->disabled = change.disabled;
	record->pause = now_ns() - begin;
	dict_write(JIS_EV_methods_changed, record, sizeof(*record), NULL, 0);
	agent_debug("methods: %u on, %u off, in %u classes, %llu us", record->enabled,
		    record->disabled, record->classes, (unsigned long long)record->pause / 1000);
}

int methods_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	if (agent.no_rewrite)
		return -ENOTSUP;
	wanted->can_retransform_classes = 1;
	wanted->can_get_bytecodes = potential->can_get_bytecodes;
	wanted->can_get_source_file_name = potential->can_get_source_file_name;
	return potential->can_retransform_classes ? 0 : -ENOTSUP;
}

int methods_enable(JNIEnv *env)
{
	char why[256];
	int error;

	pthread_mutex_lock(&methods_lock);
	choice_free(&choice);
	error = choice_add(&choice, agent.methods ? agent.methods : "", why, sizeof(why));
	values_strings(choice.strings);
	pthread_mutex_unlock(&methods_lock);
	if (error)
		recorder_note("no methods are traced: %s", why);
	return error;
}

int methods_install(JNIEnv *env)
{
	struct jis_ev_methods_changed record;
	struct selection all = {0, 0};

	if (!(agent.features & JIS_FEATURE_METHODS))
		return 0;
	if (values_begin(env) < 0 || probes_bind(env) < 0) {
		agent.features &= ~JIS_FEATURE_METHODS;
		return 0;
	}
	probes_tell();
	traced_sweep(env);
	pthread_mutex_lock(&methods_lock);
	passing_rules();
	methods_on = 1;
	pthread_mutex_unlock(&methods_lock);
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
					   JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	change_make(env, JIS_METHODS_START, &all, &record);
	__atomic_store_n(&installed, 1, __ATOMIC_RELEASE);
	return 1;
}

/* Classes with probes; those that the JVM refused to rewrite, or the others. */
static unsigned int nr_classes_present(int stuck)
{
	const struct traced_class *c = NULL;
	unsigned int n = 0;

	while ((c = traced_class_next(c)))
		n += c->nr_present > 0 && c->stuck == stuck;
	return n;
}

/* Nothing is chosen any more. What the JVM has refused has its probes still, and is tried again in
 * the next recording. */
static void all_absent(void)
{
	struct traced_class *c = NULL;
	struct traced *m;

	nr_late = 0;
	while ((c = traced_class_next(c))) {
		if (!c->stuck)
			c->nr_present = 0;
		free(c->supers);
		c->supers = NULL;
		c->late = c->guessed = 0;
		for (m = c->methods; m; m = m->next) {
			m->off = m->noted = 0;
			m->present &= c->stuck;
		}
		c->stuck = 0;
	}
}

#define LOADING_WAIT_MS 200
#define LOADING_STEP_MS 20

int methods_remove(JNIEnv *env)
{
	const struct timespec step = {0, LOADING_STEP_MS * 1000000};
	struct selection all = {0, 0};
	unsigned int left = 1, stuck;
	int ms, was;
	jint n;

	pthread_mutex_lock(&methods_lock);
	was = methods_on;
	methods_on = 0;
	pthread_mutex_unlock(&methods_lock);
	traced_sweep(env);
	__atomic_store_n(&installed, 0, __ATOMIC_RELEASE);
	free(methods_later_take(env, &n)); /* who calls has a frame for the references */
	methods_later_done();
	change_begin(JIS_METHODS_START);
	/* A class with probes that is not there yet may just be on its way. */
	for (ms = 0; was && left && ms <= LOADING_WAIT_MS; ms += LOADING_STEP_MS) {
		if (ms)
			nanosleep(&step, NULL);
		classes_retransform(env, &all);
		pthread_mutex_lock(&methods_lock);
		left = nr_classes_present(0);
		pthread_mutex_unlock(&methods_lock);
	}
	__atomic_store_n(&change.running, 0, __ATOMIC_RELEASE);
	pthread_mutex_lock(&methods_lock);
	stuck = nr_classes_present(1);
	all_absent();
	pthread_mutex_unlock(&methods_lock);
	if (stuck)
		agent_warn("%u classes keep the probes of their methods, which do nothing now: the "
			   "JVM refuses to rewrite them",
			   stuck);
	if (left)
		agent_debug("%u classes with probes have not come up", left);
	return was;
}

void methods_disable(JNIEnv *env)
{
	pthread_mutex_lock(&methods_lock);
	choice_free(&choice);
	passing_forget();
	pthread_mutex_unlock(&methods_lock);
}

/* Later -------------------------------------------------------------------------------------- */

/* "12:CALLS:NS,15:..." of the guard: switches these off. Returns how many it knows. */
static unsigned int numbers_off(const char *list)
{
	struct jis_ev_method_off record = {.asked = JIS_METHODS_GUARD};
	unsigned long long number, calls, window;
	struct traced_class *class = NULL;
	struct traced *m;
	unsigned int n = 0;
	int length;

	while ((class = traced_class_next(class)))
		class->before = 0;
	while (sscanf(list, "%llu:%llu:%llu%n", &number, &calls, &window, &length) == 3) {
		m = traced_of_number((__u32)number, &class);
		if (m && m->present && !m->off) {
			record.method = m->number;
			record.calls = calls;
			record.window = window;
			dict_write(JIS_EV_method_off, &record, sizeof(record), NULL, 0);
			m->off = JIS_METHODS_GUARD;
			class->before = 1;
			n++;
		}
		list += length;
		list += strspn(list, ", \n");
	}
	return n;
}

static int change_prepare(unsigned int asked, const char *rules, struct selection *s, char *text,
			  size_t n)
{
	int error;

	*s = (struct selection){choice.nr_rules, asked == JIS_METHODS_GUARD};
	if (!methods_on) {
		snprintf(text, n, "methods are not traced in this JVM");
		return -ENOENT;
	}
	passing_rules();
	if (!s->by_number) {
		error = choice_add(&choice, rules, text, n);
		values_strings(choice.strings);
		return error;
	}
	if (numbers_off(rules))
		return 0;
	snprintf(text, n, "none of these methods is on");
	return -ENOENT;
}

int methods_change(JNIEnv *env, unsigned int asked, const char *rules, char *text, size_t n)
{
	struct jis_ev_methods_changed record;
	struct selection s;
	int error;

	pthread_mutex_lock(&methods_lock);
	error = change_prepare(asked, rules, &s, text, n);
	pthread_mutex_unlock(&methods_lock);
	if (error)
		return error;
	change_make(env, asked, &s, &record);
	snprintf(text, n, "%u methods on, %u off, in %u classes", record.enabled, record.disabled,
		 record.classes);
	return 0;
}
