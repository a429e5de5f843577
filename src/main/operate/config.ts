import { readSurroundings } from "../../config/environment.ts";
import { loadConfiguration, type Configuration } from "../../config/load.ts";
import { formatConfiguration } from "../../config/shown.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { loadCertificateFiles } from "../../server/tls/certificate.ts";
import { wireRules } from "../../wiring/rules.ts";
import type { Output } from "../../commands/output/streams.ts";
import type { Flags } from "../flags.ts";
import { describeBucket } from "./bucket.ts";

/** Reads every file that the configuration names, and asks its bucket, too. Throws a configuration error and what is wrong with the bucket. */
export async function checkConfiguration(
  { config }: Flags,
  { stdout }: Output,
): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  wireRules(configuration);
  const certificate = await describeCertificate(configuration);
  const bucket = await describeBucket(configuration);
  const { source } = configuration;
  const rest = `${certificate}${bucket}`;
  stdout(`${source ?? "The built-in defaults"}: good\n${rest}`);
  return 0;
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
