// SPDX-License-Identifier: MIT

import java.lang.management.ManagementFactory;
import java.rmi.registry.LocateRegistry;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Asks other JVMs by JMX, and calls a server of RemoteCalls meanwhile; then its own MBean, by JMX too, which calls that server
 * from within. Arguments: TIMES RMI-PORT, and of each JVM to ask JMX-PORT BEAN ATTRIBUTE. Output: "ASKED N CALLED N RELAYED N",
 * of which ASKED is of each.
 */
public final class JmxPolls {
	private JmxPolls() {
	}

	/** What JMX calls. */
	public interface RelayMBean {
		/** Calls the server. */
		long relay() throws Exception;
	}

	/** Calls on. */
	public static final class Relay implements RelayMBean {
		private final RemoteCalls.Chain chain;

		Relay(RemoteCalls.Chain chain) {
			this.chain = chain;
		}

		@Override
		public long relay() throws Exception {
			return chain.call(0, null);
		}
	}

	private static int relayed(RemoteCalls.Chain chain, int times) throws Exception {
		ObjectName name = new ObjectName("jis:type=Relay");
		ManagementFactory.getPlatformMBeanServer().registerMBean(new Relay(chain), name);
		JMXConnectorServer server = JMXConnectorServerFactory.newJMXConnectorServer(new JMXServiceURL("service:jmx:rmi://"), null,
			ManagementFactory.getPlatformMBeanServer());
		server.start();
		int n = 0;
		try (JMXConnector connector = JMXConnectorFactory.connect(server.getAddress())) {
			MBeanServerConnection beans = connector.getMBeanServerConnection();
			while (n < times) {
				beans.invoke(name, "relay", null, null);
				n++;
			}
		}
		server.stop();
		return n;
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[0]);
		RemoteCalls.Chain chain = (RemoteCalls.Chain) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[1])).lookup("s1");
		Thread user = new Thread(() -> {
			try {
				for (int i = 0; i < times; i++) {
					chain.call(i, null);
				}
			} catch (Exception e) {
				e.printStackTrace();
				Runtime.getRuntime().halt(1);
			}
		});
		user.start();
		for (int i = 2; i < args.length; i += 3) {
			JMXServiceURL url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + args[i] + "/jmxrmi");
			try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
				for (int asked = 0; asked < times; asked++) {
					connector.getMBeanServerConnection().getAttribute(new ObjectName(args[i + 1]), args[i + 2]);
				}
			}
		}
		user.join();
		System.out.println("ASKED " + times + " CALLED " + times + " RELAYED " + relayed(chain, 20));
		System.exit(0);
	}
}
