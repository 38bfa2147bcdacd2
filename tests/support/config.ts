/** The settings of a service that a test starts. */
import { type Config, readConfig } from "../../src/config.ts";

/**
 * The default settings on loopback with only the role `api`, except for those
 * given.
 */
export function testConfig(
  settings: Partial<Config> & Pick<Config, "dataDir">,
): Config {
  return {
    ...readConfig({}, {}).config!,
    port: 0,
    databasePool: 6,
    allowPrivate: ["127.0.0.0/8"],
    rateLimit: 0,
    roles: ["api"],
    logLevel: "debug",
    ...settings,
  };
}
