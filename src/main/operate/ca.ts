import { runCa } from "../../commands/operate/ca.ts";
import { loadConfiguration } from "../../config/load.ts";
import { ConfigurationInvalid } from "../../errors/index.ts";
import { findAuthority } from "../../wiring/command.ts";

export async function showAuthority({
  config,
}: {
  readonly config?: string;
}): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  if (configuration.listen.tls.kind !== "self-signed")
    throw new ConfigurationInvalid(
      "listen.tls",
      'it is not "self-signed", so this mirror has no CA of its own: clients need the one that signed its certificate.',
    );
  await runCa(findAuthority(configuration), {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
  });
}
