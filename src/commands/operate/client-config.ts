import { X509Certificate } from "node:crypto";
import { loadConfiguration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import {
  listSetUps,
  trustSteps,
} from "../../server/web/client-instructions.ts";
import { layOutStore } from "../../store/layout.ts";
import { actAsOwner } from "../../store/storage-directory.ts";
import type { Flags } from "../command.ts";
import { findUrl, readOwnAuthority } from "../named-mirror.ts";
import { stderr, stdout } from "../output/report.ts";

const options = ["tofu", "github", "gitlab", "docker", "terragrunt"] as const;

/** `provender client-config`: what clients paste, for the kinds of them that are named, else the blocks and the CA. */
export function clientConfig(
  flags: Flags & { readonly pem?: true } & Partial<
      Readonly<Record<(typeof options)[number], true>>
    >,
): number {
  const configuration = loadConfiguration({ file: flags.config });
  const { auth, origins, listen, storage } = configuration;
  let authority: string | undefined;
  if (listen.tls.kind === "self-signed") {
    const layout = layOutStore(storage.directory);
    actAsOwner(layout);
    authority = readOwnAuthority(layout);
  }
  const { fingerprint256: fingerprint, validTo } =
    authority === undefined ? {} : new X509Certificate(authority);
  const trust =
    fingerprint === undefined
      ? ""
      : `SHA-256 fingerprint of the CA: ${fingerprint}\nValid until ${validTo}. Compare the fingerprint before you trust a copy.\n\nWrite it to a file with: provender client-config --pem > provender-ca.pem. Then, on each client:\n\n${trustSteps}`;
  if (flags.pem === true) {
    if (authority === undefined)
      throw failure(
        "configuration",
        "listen.tls",
        'it is not "self-signed", so this mirror has no CA of its own',
        "clients need the one that signed its certificate",
      );
    stdout(authority);
    stderr(trust);
    return 0;
  }
  const setUps = listSetUps({
    url: findUrl(configuration),
    hostnames: [...origins.keys()],
    needsToken: auth.tokens.length > 0 || auth.oidc.length > 0,
    fingerprint,
  });
  const named: readonly string[] = options.filter((name) => flags[name]);
  const wanted = named.length > 0 ? named : ["hosts", "network"];
  const shown = setUps
    .filter(({ option }) => wanted.includes(option))
    .map(({ name, hint, text }) => `# ${name}. ${hint}\n${text}`);
  stdout(shown.join("\n"));
  if (named.length === 0 && trust !== "")
    stdout(`\n${trust.replaceAll(/^(?=.)/gm, "# ").replaceAll(/^$/gm, "#")}\n`);
  return 0;
}
