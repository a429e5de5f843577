import { readSurroundings } from "../../config/environment.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { formatConfiguration } from "../../config/shown.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { wireBucket } from "../../wiring/core.ts";
import { probePostgres } from "../../store/database/postgres.ts";
import type { Flags } from "../command.ts";
import { stderr, stdout } from "../output/report.ts";

/**
 * `provender config`: reads every file that the configuration names, asks its database server and its bucket, and prints
 * every key with the line that its value comes from.
 */
export async function showConfiguration({ config }: Flags): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  const certificate = await describeCertificate(configuration);
  const shared = await describeShared(configuration);
  stdout(formatConfiguration(config, readSurroundings()));
  const { source = "The built-in defaults", origins } = configuration;
  stderr(
    `${source}: good\nServes ${listServed(origins)}\n${certificate}${shared}`,
  );
  return 0;
}

export function listServed(origins: Configuration["origins"]): string {
  return [...origins.keys()].join(", ") || "no hostname";
}

/** A line on the operator's own certificate; empty without one. */
async function describeCertificate({
  listen: { tls },
  source = "",
}: Configuration): Promise<string> {
  if (tls.kind !== "files") return "";
  try {
    const { expires } = await loadCertificateFiles(tls, new Date());
    return `${tls.certificate}: good until ${expires.toISOString()}, with its key\n`;
  } catch (cause) {
    if (!isFailure(cause, "configuration")) throw cause;
    const where = `${source}: "listen.tls"`;
    throw failure("configuration", where, cause.sentence, cause.remedy, {
      cause,
    });
  }
}

/** Lines on the database server and the bucket, once they answered; empty without them. */
export async function describeShared(
  configuration: Configuration,
): Promise<string> {
  const { url } = configuration.database;
  const place = url && (await probePostgres(url.secret));
  const database = place === undefined ? "" : `${place}: answers\n`;
  const { s3 } = configuration.storage;
  if (s3 === undefined) return database;
  const bucket = wireBucket(s3);
  try {
    await bucket.probe();
    return `${database}${s3.endpoint.href}${s3.bucket}: answers\n`;
  } finally {
    await bucket.close();
  }
}
