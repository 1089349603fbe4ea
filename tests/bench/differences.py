# SPDX-License-Identifier: MIT
"""What benches say of differences in per cent: each, median, mean, and from five on the upper 95 % bound."""
import statistics as st


def difference(what, each, percents):
    """Prints that of @what, taken each @each ("round"); returns the median."""
    print("%s, each %s: %s %%" % (what, each, " ".join("%.1f" % x for x in percents)))
    median, mean, free = st.median(percents), st.mean(percents), len(percents) - 1
    if free < 4:
        print("%s: median %.2f %%, mean %.2f %%" % (what, median, mean))
        return median
    half = (1.645 + 1.5 / free + 1.8 / free**2) * st.stdev(percents) / len(percents) ** 0.5  # Student's t, one-sided
    print("%s: median %.2f %%, mean %.2f %%, upper 95 %% bound %.2f %%" % (what, median, mean, mean + half))
    return median
