// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.analysis.IMethodCoverage;
import org.jacoco.core.tools.ExecFileLoader;

/**
 * What JaCoCo makes of its execution data and the class files as they are on disk: lines "COVERED class method
 * descriptor" and "MISSED ..."; "MISMATCH class" where the data is of a class with other bytes. Usage: JacocoTold
 * DATA DIRECTORY GLOB.
 */
public class JacocoTold {
	private static void print(IClassCoverage c) {
		String name = c.getName().replace('/', '.');
		if (c.isNoMatch()) {
			System.out.println("MISMATCH " + name);
		}
		for (IMethodCoverage m : c.getMethods()) {
			System.out.println((m.getInstructionCounter().getCoveredCount() > 0 ? "COVERED " : "MISSED ") + name + " "
					+ m.getName() + " " + m.getDesc());
		}
	}

	public static void main(String[] args) throws IOException {
		ExecFileLoader data = new ExecFileLoader();
		data.load(Path.of(args[0]).toFile());
		CoverageBuilder builder = new CoverageBuilder();
		Analyzer analyzer = new Analyzer(data.getExecutionDataStore(), builder);
		try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(args[1]), args[2])) {
			for (Path file : files) {
				analyzer.analyzeClass(Files.readAllBytes(file), file.toString());
			}
		}
		builder.getClasses().forEach(JacocoTold::print);
		builder.getNoMatchClasses().forEach(c -> System.out.println("MISMATCH " + c.getName()));
	}
}
