// SPDX-License-Identifier: MIT
/*
 * What an emulated machine does not do, for the tests of who records it: time that a hypervisor
 * takes from a CPU, and changes of a CPU's frequency. Written to /sys/module/jispretend/parameters:
 *
 *   steal      "CPU NS"   so much more was stolen from it, as the kernel itself would count it
 *   frequency  "CPU KHZ"  it runs at this frequency from now on: the kernel's event of that
 */
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <trace/events/power.h>

static void steal_here(void *ns)
{
	kcpustat_this_cpu->cpustat[CPUTIME_STEAL] += *(const u64 *)ns;
}

static int steal_set(const char *value, const struct kernel_param *kp)
{
	unsigned int cpu;
	u64 ns;

	if (sscanf(value, "%u %llu", &cpu, &ns) != 2 || cpu >= nr_cpu_ids)
		return -EINVAL;
	return smp_call_function_single(cpu, steal_here, &ns, true);
}

static int frequency_set(const char *value, const struct kernel_param *kp)
{
	unsigned int cpu, khz;

	if (sscanf(value, "%u %u", &cpu, &khz) != 2 || cpu >= nr_cpu_ids)
		return -EINVAL;
	trace_cpu_frequency(khz, cpu);
	return 0;
}

static const struct kernel_param_ops steal_ops = {.set = steal_set};
static const struct kernel_param_ops frequency_ops = {.set = frequency_set};

module_param_cb(steal, &steal_ops, NULL, 0200);
module_param_cb(frequency, &frequency_ops, NULL, 0200);

MODULE_DESCRIPTION("stolen time and frequencies, for JIS's tests");
MODULE_LICENSE("Dual MIT/GPL");
