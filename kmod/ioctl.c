// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of /dev/jis: copies arguments in and out, checks sizes, reserved words and the
 * session's state, and nothing else. Everything that comes from user space is read once and is
 * hostile.
 */
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "jis.h"

/* Copies a structure in that begins with its own size. */
static int copy_in(void *to, const void __user *from, u32 size)
{
	if (copy_from_user(to, from, size))
		return -EFAULT;
	return *(u32 *)to == size ? 0 : -EINVAL;
}

static int copy_out(void __user *to, const void *from, u32 size)
{
	return copy_to_user(to, from, size) ? -EFAULT : 0;
}

static int ioctl_setup(struct jis_session *s, void __user *arg)
{
	struct jis_setup setup;
	int err = copy_in(&setup, arg, sizeof(setup));

	if (err)
		return err;
	if (s->state != JIS_SESSION_NEW)
		return -EBADFD;
	err = jis_session_setup(s, &setup);
	return err ?: copy_out(arg, &setup, sizeof(setup));
}

static int ioctl_target(struct jis_session *s, unsigned int cmd, void __user *arg)
{
	struct jis_target target;
	int err = copy_in(&target, arg, sizeof(target));

	if (err)
		return err;
	if (target.reserved || !target.pid ||
	    target.flags & ~(cmd == JIS_IOC_TARGET_ADD ? JIS_TARGET_CHILDREN : 0))
		return -EINVAL;
	if (s->state == JIS_SESSION_NEW || s->state == JIS_SESSION_STOPPED)
		return -EBADFD;
	switch (cmd) {
	case JIS_IOC_TARGET_ADD:
		return jis_target_add(s, target.pid, target.flags);
	case JIS_IOC_TARGET_REMOVE:
		return jis_target_remove(s, target.pid);
	default:
		return jis_target_test(s, target.pid);
	}
}

/* What goes from state to state, and which state it needs. */
static int ioctl_control(struct jis_session *s, unsigned int cmd)
{
	u32 state = s->state;

	switch (cmd) {
	case JIS_IOC_START:
		return state == JIS_SESSION_READY ? jis_session_start(s) : -EBADFD;
	case JIS_IOC_PAUSE:
		return state == JIS_SESSION_RUNNING ? jis_session_pause(s) : -EBADFD;
	case JIS_IOC_RESUME:
		return state == JIS_SESSION_PAUSED ? jis_session_resume(s) : -EBADFD;
	case JIS_IOC_FLUSH:
		if (state == JIS_SESSION_STOPPED)
			return 0;
		return state == JIS_SESSION_NEW ? -EBADFD : jis_session_flush(s);
	default: /* STOP */
		if (state == JIS_SESSION_STOPPED)
			return 0;
		return state == JIS_SESSION_NEW ? -EBADFD : jis_session_stop(s);
	}
}

static int ioctl_locked(struct jis_session *s, unsigned int cmd, void __user *arg)
{
	int err = mutex_lock_interruptible(&s->lock);

	if (err)
		return err;
	switch (cmd) {
	case JIS_IOC_SETUP:
		err = ioctl_setup(s, arg);
		break;
	case JIS_IOC_TARGET_ADD:
	case JIS_IOC_TARGET_REMOVE:
	case JIS_IOC_TARGET_TEST:
		err = ioctl_target(s, cmd, arg);
		break;
	default:
		err = ioctl_control(s, cmd);
	}
	mutex_unlock(&s->lock);
	return err;
}

/* The ring of a CPU number that came from user space; NULL: there is none. */
static struct jis_ring *ring_of(struct jis_session *s, u32 cpu)
{
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return NULL;
	return per_cpu_ptr(s->rings, cpu);
}

static int ioctl_get_packet(struct jis_session *s, void __user *arg)
{
	struct jis_get_packet got;
	struct jis_ring *r;
	int err = copy_in(&got, arg, sizeof(got));

	if (err)
		return err;
	r = ring_of(s, got.cpu);
	if (!r || got.reserved)
		return -EINVAL;
	err = jis_ring_get(r, jis_session_state(s) == JIS_SESSION_STOPPED, jis_now(s), &got);
	return err ?: copy_out(arg, &got, sizeof(got));
}

static int ioctl_status(struct jis_session *s, void __user *arg)
{
	struct jis_status status;
	u32 size;

	if (get_user(size, (u32 __user *)arg))
		return -EFAULT;
	if (size != sizeof(status))
		return -EINVAL;
	memset(&status, 0, sizeof(status));
	status.size = size;
	jis_session_status(s, &status);
	return copy_out(arg, &status, sizeof(status));
}

static int ioctl_counters(struct jis_session *s, void __user *arg)
{
	struct jis_counters *c;
	struct jis_ring *r;
	u32 head[2]; /* size, cpu */
	int err, i;

	if (copy_from_user(head, arg, sizeof(head)))
		return -EFAULT;
	r = ring_of(s, head[1]);
	if (head[0] != sizeof(*c) || !r)
		return -EINVAL;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	c->size = sizeof(*c);
	c->cpu = head[1];
	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		c->produced[i] = READ_ONCE(r->produced[i]);
		c->lost[i] = READ_ONCE(r->lost[i]);
	}
	err = copy_out(arg, c, sizeof(*c));
	kfree(c);
	return err;
}

/**
 * jis_ioctl - what include/jis/abi.h says.
 *
 * Errors beside those of each call: -ENOTTY unknown; -EFAULT; -EINVAL for a wrong size, a reserved
 * word that is not zero, a flag or CPU that does not exist; -EBADFD for a call the session's state
 * does not allow; -EINTR.
 */
long jis_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct jis_session *s = file->private_data;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case JIS_IOC_GET_PACKET:
	case JIS_IOC_COUNTERS:
		if (jis_session_state(s) == JIS_SESSION_NEW)
			return -EBADFD;
		if (cmd == JIS_IOC_COUNTERS)
			return ioctl_counters(s, user);
		return ioctl_get_packet(s, user);
	case JIS_IOC_STATUS:
		return ioctl_status(s, user);
	case JIS_IOC_SETUP:
	case JIS_IOC_TARGET_ADD:
	case JIS_IOC_TARGET_REMOVE:
	case JIS_IOC_TARGET_TEST:
	case JIS_IOC_START:
	case JIS_IOC_PAUSE:
	case JIS_IOC_RESUME:
	case JIS_IOC_STOP:
	case JIS_IOC_FLUSH:
		return ioctl_locked(s, cmd, user);
	}
	return -ENOTTY;
}
