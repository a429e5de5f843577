import { resolve } from "node:path";
import { parseHostname } from "../../address/hostname.ts";
import { runPublish } from "../../commands/packages/publish.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wirePublishing } from "../../wiring/commands/publishing.ts";
import type { Flags } from "../flags.ts";
import { untilStopped } from "../options.ts";
import { output } from "../output.ts";

export interface PublishFlags extends Flags {
  readonly to: string;
  readonly namespace?: string;
}

export async function publish(
  from: string,
  { config, to, namespace, json = false }: PublishFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  await using publishing = wirePublishing(configuration, to);
  const hostname = publishing.hostname ?? parseHostname("localhost");
  const { place } = publishing;
  const asked = { from: resolve(from), to: place, namespace, json };
  const options = { ...asked, signal: untilStopped() };
  const parts = { ...publishing, hostname, now: () => new Date() };
  process.exitCode = await runPublish(options, parts, output);
}
