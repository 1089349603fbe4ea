// SPDX-License-Identifier: MIT

import java.util.List;

/**
 * An ActiveMQ broker without disk, whose queues have room for so little that producers must wait for consumers. By
 * reflection, because this is compiled without ActiveMQ.
 *
 * <p>Arguments: URI BYTES. It listens at URI; the messages of a queue may take BYTES. Property beans: true, JMX is told of it.
 * Prints READY; ends when killed.
 */
public final class Broker {
	private static Object make(String name) throws ReflectiveOperationException {
		return Class.forName("org.apache.activemq.broker." + name).getConstructor().newInstance();
	}

	/** Calls the method of this name that takes one such argument. */
	private static void call(Object on, String method, Class<?> type, Object argument) throws ReflectiveOperationException {
		on.getClass().getMethod(method, type).invoke(on, argument);
	}

	public static void main(String[] args) throws Exception {
		Object policies = make("region.policy.PolicyMap");
		Object policy = make("region.policy.PolicyEntry");
		Object broker = make("BrokerService");
		call(policy, "setQueue", String.class, ">");
		call(policy, "setMemoryLimit", long.class, Long.parseLong(args[1]));
		call(policies, "setPolicyEntries", List.class, List.of(policy));
		call(broker, "setBrokerName", String.class, "shop");
		call(broker, "setPersistent", boolean.class, false);
		call(broker, "setUseJmx", boolean.class, Boolean.getBoolean("beans"));
		call(broker, "setDestinationPolicy", policies.getClass(), policies);
		call(broker, "addConnector", String.class, args[0]);
		broker.getClass().getMethod("start").invoke(broker);
		System.out.println("READY");
		broker.getClass().getMethod("waitUntilStopped").invoke(broker);
	}
}
