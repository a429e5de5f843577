import type { Configuration, OriginConfiguration } from "../../config/load.ts";
import type { ExaminedOrigin } from "../../commands/doctor/origins.ts";
import type { Hostname } from "../../address/hostname.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { HttpClient } from "../../origin/http/http-client.ts";
import { settingsOf } from "../origins.ts";

/** Bytes of a discovery document, which has about a thousand. */
const mostBytes = 64 * 1024;

/** The origins that are asked over the network, as the daemon asks them, each by a client of its own. */
export function wireExaminedOrigins(configuration: Configuration): {
  readonly origins: readonly ExaminedOrigin[];
  close(): Promise<void>;
} {
  const wired = [...configuration.origins.values()]
    .filter(({ directory }) => directory === undefined)
    .map((origin) => wireOrigin(configuration, origin));
  return {
    origins: wired.map(({ examined }) => examined),
    close: async () => {
      await Promise.all(wired.map(({ http }) => http.close()));
    },
  };
}

function wireOrigin(
  { proxy, limits }: Configuration,
  origin: OriginConfiguration,
) {
  const { hostname, networkMirror, directory, url } = origin;
  const settings = settingsOf(origin, origin.token?.secret, proxy);
  const http = new HttpClient(settings, limits);
  if (directory !== undefined)
    return { http, examined: examineFolder(hostname, directory, url) };
  const examined: ExaminedOrigin = {
    hostname,
    url: networkMirror ?? new URL("/.well-known/terraform.json", url),
    isNetworkMirror: networkMirror !== undefined,
    ask: (at, signal) => http.fetchAnswer(at, mostBytes, signal),
  };
  return { http, examined };
}

/** Like a network mirror, a folder has nothing that would name its services. */
function examineFolder(
  hostname: Hostname,
  directory: string,
  url: URL,
): ExaminedOrigin {
  const folder = new OriginFolder(directory, hostname);
  const ask = async () => {
    await folder.list([]);
    return { url, bytes: Buffer.alloc(0), headers: {} };
  };
  return { hostname, url, isNetworkMirror: true, ask };
}
