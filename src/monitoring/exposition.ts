/**
 * The text format of Prometheus. Loaded at the first scrape, because the
 * library would take a third of the time that the service needs to start.
 */
import {
  type Metric as LibraryMetric,
  Registry,
} from "@platformatic/prom-client";
import type { Metric } from "../lib/metric.ts";

export class Exposition {
  readonly #registry = new Registry();

  constructor(metrics: readonly Metric[]) {
    for (const metric of metrics) {
      this.#registry.registerMetric(asLibraryMetric(metric));
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** A registry needs only the name of a metric, and its values at the scrape. */
function asLibraryMetric(metric: Metric): LibraryMetric {
  const { name, help, type } = metric;
  const get = () =>
    Promise.resolve({
      name,
      help,
      type,
      values: metric.samples().map(({ suffix, labels, value }) => (
        { metricName: name + suffix, labels, value }
      )),
    });
  return { name, get } as unknown as LibraryMetric;
}
