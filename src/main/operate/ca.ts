import { runCa } from "../../commands/operate/ca.ts";
import { loadConfiguration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { layOutStore } from "../../store/layout.ts";
import { actAsOwner } from "../../store/storage-owner.ts";
import type { Flags } from "../flags.ts";
import type { Output } from "../../commands/output/report.ts";

export async function showAuthority(
  { config }: Flags,
  output: Output,
): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  if (configuration.listen.tls.kind !== "self-signed")
    throw failure(
      "configuration",
      "listen.tls",
      'it is not "self-signed", so this mirror has no CA of its own',
      "clients need the one that signed its certificate",
    );
  const layout = layOutStore(configuration.storage.directory);
  actAsOwner(layout);
  return runCa(layout.tls.authority, output);
}
