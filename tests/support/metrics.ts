/** Reads the text format of Prometheus. */

/** The value of each series, by its name and labels as written. */
export type Series = ReadonlyMap<string, number>;

/** @throws if a line is neither a comment nor a series. */
export function parseMetrics(text: string): Series {
  const series = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const match = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line);
    if (match === null) throw new Error(`no series: ${line}`);
    series.set(match[1], Number(match[2]));
  }
  return series;
}

/** The label names of each metric that the text describes. */
export function labelsOf(text: string): Record<string, string[]> {
  const labels: Record<string, string[]> = {};
  for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) labels[name] = [];
  for (const [series] of parseMetrics(text)) {
    const [, name, inside = ""] =
      /^(\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})?$/
        .exec(series)!;
    const whole = series.split("{")[0];
    labels[whole in labels ? whole : name] = [
      ...inside.matchAll(/(\w+)="/g),
    ].map(([, label]) => label).filter((label) => label !== "le").sort();
  }
  return labels;
}
