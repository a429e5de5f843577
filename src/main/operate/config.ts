import { readSurroundings } from "../../config/environment.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { formatConfiguration } from "../../config/shown.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { wireRules } from "../../wiring/core.ts";
import type { Output } from "../../commands/output/report.ts";
import type { Flags } from "../flags.ts";
import { probePostgres } from "../../store/database/postgres.ts";
import { wireBucket } from "../../wiring/store/archive-bucket.ts";

/** Reads every file that the configuration names, and asks its database server and its bucket, too. */
export async function checkConfiguration(
  { config }: Flags,
  { stdout }: Output,
): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  wireRules(configuration);
  const certificate = await describeCertificate(configuration);
  const shared = await describeShared(configuration);
  const { source, origins } = configuration;
  const rest = `Serves ${listServed(origins)}\n${certificate}${shared}`;
  stdout(`${source ?? "The built-in defaults"}: good\n${rest}`);
  return 0;
}

/** The hostnames that are served. */
export function listServed(origins: Configuration["origins"]): string {
  return [...origins.keys()].join(", ") || "no hostname";
}

export function showConfiguration(
  { config }: Flags,
  { stdout }: Output,
): number {
  stdout(formatConfiguration(config, readSurroundings()));
  return 0;
}

/**
 * Returns a line on the operator's own certificate; empty without such a certificate.
 */
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

/** Returns lines on the database server and the bucket, once they answered; empty without them. */
export async function describeShared(
  configuration: Configuration,
): Promise<string> {
  const { url } = configuration.database;
  const place = url && (await probePostgres(url.secret));
  const database = place === undefined ? "" : `${place}: answers\n`;
  return database + (await describeBucket(configuration));
}

/** Returns a line on the bucket, once it answered; empty without a bucket. */
async function describeBucket({
  storage: { s3 },
}: Configuration): Promise<string> {
  if (s3 === undefined) return "";
  const bucket = wireBucket(s3);
  try {
    await bucket.probe();
    return `${s3.endpoint.href}${s3.bucket}: answers\n`;
  } finally {
    await bucket.close();
  }
}
