// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may do what. Full rights: CAP_PERFMON or CAP_SYS_ADMIN. Members of the group the module was
 * loaded with (gid=) may open the device too; theirs are restricted sessions, which show a user
 * what belongs to that user and nothing else.
 *
 * What a session may show is settled when it is opened. Whether a caller may use it is asked at
 * each call, of the caller's own credentials: a descriptor gives nobody more than he has himself.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/uidgid.h>

#include "jis.h"

static int gid = -1;
module_param(gid, int, 0444);
MODULE_PARM_DESC(gid, "group whose members may record their own processes; -1: none");

static bool rights_member(void)
{
	kgid_t group = make_kgid(&init_user_ns, gid);

	return gid >= 0 && gid_valid(group) && in_group_p(group);
}

/* Each session costs every switch of the machine something: a member gets a few. */
#define MEMBER_SESSIONS 16
static DEFINE_MUTEX(members_lock);
static LIST_HEAD(members); /* restricted sessions */

static int rights_enter(struct jis_session *s)
{
	struct jis_session *other;
	int n = 0;

	mutex_lock(&members_lock);
	list_for_each_entry(other, &members, member)
		n += uid_eq(other->cred->uid, s->cred->uid);
	if (n < MEMBER_SESSIONS)
		list_add(&s->member, &members);
	mutex_unlock(&members_lock);
	return n < MEMBER_SESSIONS ? 0 : -EMFILE;
}

/**
 * jis_rights_open - settles what a new session may show.
 *
 * Returns 0; -EPERM, also where the kernel is locked down for confidentiality, as tracefs does;
 * -EMFILE: a member of the group has as many sessions as he may.
 */
int jis_rights_open(struct jis_session *s)
{
	bool full = perfmon_capable();

	if (!full && !rights_member())
		return -EPERM;
	if (security_locked_down(LOCKDOWN_TRACEFS))
		return -EPERM;
	s->restricted = !full;
	s->cred = get_current_cred();
	return full ? 0 : rights_enter(s);
}

void jis_rights_close(struct jis_session *s)
{
	mutex_lock(&members_lock);
	list_del_init(&s->member);
	mutex_unlock(&members_lock);
	if (s->cred)
		put_cred(s->cred);
}

/**
 * jis_rights_check - may the caller use this session now? Who has full rights may use any; a member
 * only a restricted one of the same user. Returns 0 or -EPERM.
 */
int jis_rights_check(const struct jis_session *s)
{
	if (perfmon_capable())
		return 0;
	if (s->restricted && uid_eq(current_uid(), s->cred->uid) && rights_member())
		return 0;
	return -EPERM;
}

/**
 * jis_rights_setup - does the session's owner see all that SETUP asks for? Returns 0 or -EPERM.
 */
int jis_rights_setup(const struct jis_session *s, const struct jis_setup *setup)
{
	if (s->restricted && (setup->flags & JIS_SETUP_ALL_SWITCHES ||
			      setup->families & (JIS_FAMILY_BLOCK | JIS_FAMILY_POWER)))
		return -EPERM;
	return 0;
}

/* As ptrace(2) has it with real ids: all of the other's ids are ours, and its rights are no more.
 */
static bool cred_covers(const struct cred *who, const struct cred *whom)
{
	return uid_eq(who->uid, whom->uid) && uid_eq(who->uid, whom->euid) &&
	       uid_eq(who->uid, whom->suid) && gid_eq(who->gid, whom->gid) &&
	       gid_eq(who->gid, whom->egid) && gid_eq(who->gid, whom->sgid) &&
	       who->user_ns == whom->user_ns &&
	       cap_issubset(whom->cap_permitted, who->cap_permitted);
}

/**
 * jis_rights_task - may the session show this thread? Process context, or a probe with @task
 * current.
 */
bool jis_rights_task(const struct jis_session *s, struct task_struct *task)
{
	bool covers;

	if (!s->restricted)
		return true;
	rcu_read_lock();
	covers = cred_covers(s->cred, __task_cred(task));
	rcu_read_unlock();
	/* And has the program not asked to be left alone (PR_SET_DUMPABLE)? */
	return covers && compat_dumpable(task);
}
