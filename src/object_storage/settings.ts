/** The settings of the bucket. */
import type { Config } from "../config.ts";
import type { S3Settings } from "./client.ts";

export function s3SettingsOf(
  config: Config,
  place: Pick<S3Settings, "bucket" | "prefix">,
): S3Settings {
  const { s3Endpoint, s3Region: region } = config;
  return {
    endpoint: s3Endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket: place.bucket,
    prefix: place.prefix,
    accessKey: config.s3AccessKey ?? "",
    secretKey: config.s3SecretKey ?? "",
  };
}
