/** The settings of a service that a test starts. */
import type { Config } from "../../src/config.ts";

/** Those of a service on loopback, but for what is given. */
export function testConfig(
  settings: Partial<Config> & Pick<Config, "dataDir">,
): Config {
  return {
    host: "127.0.0.1",
    port: 0,
    databaseUrl: null,
    databasePool: 6,
    imageStore: null,
    s3Endpoint: null,
    s3Region: "us-east-1",
    s3AccessKey: null,
    s3SecretKey: null,
    operatorKey: null,
    metricsKey: null,
    metricsPort: null,
    allowPrivate: ["127.0.0.0/8"],
    rateLimit: 0,
    trustProxy: 0,
    bodyLimit: 16_777_216,
    bodyBudget: 268_435_456,
    imageLimit: 16_777_216,
    productLimit: 1_000_000,
    imageQuota: 10_737_418_240,
    keepUploadsDays: 90,
    undoDays: 30,
    keepEventsDays: 30,
    keepReferencesDays: 400,
    keepImagesDays: 0,
    roles: ["api"],
    logLevel: "debug",
    ...settings,
  };
}
