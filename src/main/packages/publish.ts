import { resolve } from "node:path";
import { parseHostname } from "../../address/hostname.ts";
import { runPublish } from "../../commands/packages/publish.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wirePublishing } from "../../wiring/command.ts";
import { untilStopped } from "../options.ts";

export interface PublishFlags {
  readonly config?: string;
  readonly to: string;
  readonly namespace?: string;
  readonly json?: boolean;
}

export async function publish(
  from: string,
  { config, to, namespace, json = false }: PublishFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  const directory = resolve(to);
  const publishing = wirePublishing(configuration, directory);
  const hostname = publishing.hostname ?? parseHostname("localhost");
  const output = {
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  };
  const asked = { from: resolve(from), to: directory, namespace, json };
  const options = { ...asked, signal: untilStopped() };
  const parts = { ...publishing, hostname, now: () => new Date() };
  try {
    process.exitCode = await runPublish(options, parts, output);
  } finally {
    await publishing.close();
  }
}
