/** Backups in object storage, for `backup` and `restore`. */
import { type Config, missingS3Keys } from "../config.ts";
import type { Deps } from "../deps.ts";
import { S3Client } from "../object_storage/client.ts";
import type { ObjectPlace, TransferOptions } from "../object_storage/file.ts";
import { parseS3Place } from "../lib/setting_values.ts";
import { s3SettingsOf } from "../object_storage/settings.ts";
import { UsageError } from "./command.ts";

/**
 * The place of the object `s3://BUCKET/KEY`; null if the text is the name of a
 * file. Throws a `UsageError` for an invalid name or missing settings.
 */
export function objectPlace(
  text: string,
  config: Config,
  { clock }: Deps,
): ObjectPlace | null {
  if (!text.startsWith("s3://")) return null;
  const place = parseS3Place(text);
  if (place === null || place.key === "") {
    throw new UsageError(
      `${text} is not s3://BUCKET/KEY, with a key of letters, digits and ._-/ ` +
        "alone.",
    );
  }
  const { bucket, key } = place;
  const missing = missingS3Keys(config, text);
  if (missing.length > 0) throw new UsageError(...missing);
  const settings = s3SettingsOf(config, { bucket, prefix: "" });
  return { client: new S3Client(settings, clock), key };
}

/** Runs a transfer; SIGINT and SIGTERM abort it cleanly. */
export async function untilStopped<T>(
  { clock }: Deps,
  transfer: (options: TransferOptions) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Error("it was stopped by a signal"));
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, onSignal);
  try {
    return await transfer({ clock, abort: stop.signal });
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, onSignal);
  }
}
