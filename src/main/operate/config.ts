import { readSurroundings } from "../../config/environment.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { formatConfiguration } from "../../config/shown.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { wireRules } from "../../wiring/core.ts";
import type { Output } from "../../commands/output/report.ts";
import type { Flags } from "../flags.ts";
import { checkBucket } from "../../store/bucket/bucket-identity.ts";
import { proveBucket } from "../../store/bucket/bucket-proof.ts";
import { layOutStore } from "../../store/layout.ts";
import { wireBucket } from "../../wiring/store/replica.ts";

/** Reads every file that the configuration names, and asks its bucket, too. */
export async function checkConfiguration(
  { config }: Flags,
  { stdout }: Output,
): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  wireRules(configuration);
  const certificate = await describeCertificate(configuration);
  const bucket = await describeBucket(configuration);
  const { source, origins } = configuration;
  const rest = `Serves ${listServed(origins)}\n${certificate}${bucket}`;
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

/** Returns a line on the bucket, after it proves the properties that replicas need; empty without a bucket. */
export async function describeBucket({
  storage: { s3, directory },
}: Configuration): Promise<string> {
  if (s3 === undefined) return "";
  const bucket = wireBucket(s3);
  try {
    const found = await checkBucket(bucket, layOutStore(directory));
    await proveBucket(bucket);
    const store = found ? `has the store ${found.store}` : "is empty";
    return `${s3.endpoint.href}${s3.bucket}: good for replicas, ${store}\n`;
  } finally {
    await bucket.close();
  }
}
