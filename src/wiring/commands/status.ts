import { readFile } from "node:fs/promises";
import type { StatusSubject } from "../../commands/operate/status.ts";
import { loadHostToken, type Configuration } from "../../config/load.ts";
import { readDaemonNote } from "../../store/daemon-note.ts";
import type { StoreLayout } from "../../store/layout.ts";
import { isEveryAddress } from "../../server/tls/certificate-names.ts";
import { readAuditHeads } from "../audit.ts";
import { findLayout } from "./layout.ts";

/** The daemon of this machine's store, by what it left there. */
export async function findDaemon(
  configuration: Configuration,
): Promise<StatusSubject> {
  const layout = findLayout(configuration);
  const note = await readDaemonNote(layout);
  const { directory } = layout;
  // Another user than the daemon's may not read them.
  const audit = await readAuditHeads(layout).catch(() => []);
  const here = { directory, policyMode: configuration.policy.mode, audit };
  if (note === undefined)
    return { ...here, access: undefined, url: undefined, pid: undefined };
  const base = new URL("providers/", note.url);
  const token = loadHostToken(base);
  // The name that clients have for it may mean nothing here.
  if (isEveryAddress(configuration.listen.host)) base.hostname = "127.0.0.1";
  const access = {
    base,
    ca: await readOwnCertificates(configuration, layout),
    isPinned: true,
    token,
    proxy: { https: undefined, no: undefined },
  };
  return { ...here, access, ...note };
}

/**
 * Reads the certificate that the daemon presents, or its authority; empty where
 * it is unreadable or TLS is off.
 */
async function readOwnCertificates(
  { listen: { tls } }: Configuration,
  layout: StoreLayout,
): Promise<readonly string[]> {
  const file = tls.kind === "files" ? tls.certificate : layout.tls.authority;
  const read = await readFile(file, "utf8").catch(() => undefined);
  return read === undefined ? [] : [read];
}
