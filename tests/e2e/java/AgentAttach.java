// SPDX-License-Identifier: MIT

import com.sun.tools.attach.VirtualMachine;

/** Loads an agent library into a running JVM. Arguments: PID PATH OPTIONS. */
public final class AgentAttach {
	public static void main(String[] args) throws Exception {
		VirtualMachine vm = VirtualMachine.attach(args[0]);
		vm.loadAgentPath(args[1], args[2]);
		vm.detach();
	}
}
