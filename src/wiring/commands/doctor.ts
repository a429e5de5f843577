import type { Configuration, OriginConfiguration } from "../../config/load.ts";
import type { ExaminedOrigin } from "../../commands/doctor/origins.ts";
import { HttpClient } from "../../origin/http/http-client.ts";
import type { Hostname } from "../../address/hostname.ts";
import type { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { openFolder, settingsOf } from "../origins.ts";
import { wireBucket } from "../store/bucket.ts";

/** Bytes of a discovery document, which has about a thousand. */
const mostBytes = 64 * 1024;

/** The folders that stand for registries, by the hostname of each. */
export function wireExaminedFolders({ origins, storage }: Configuration): {
  readonly folders: ReadonlyMap<Hostname, OriginFolder>;
  readonly close: () => Promise<void>;
} {
  const bucket = storage.s3 && wireBucket(storage.s3);
  const folders = [...origins].flatMap(([hostname, { folder }]) =>
    folder === undefined
      ? []
      : [[hostname, openFolder(folder, bucket)] as const],
  );
  const close = async () => bucket?.close();
  return { folders: new Map(folders), close };
}

/** The origins that are asked over the network, as the daemon asks them, each by a client of its own. */
export function wireExaminedOrigins(configuration: Configuration): {
  readonly origins: readonly ExaminedOrigin[];
  close(): Promise<void>;
} {
  const wired = [...configuration.origins.values()]
    .filter(({ folder }) => folder === undefined)
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
  const { hostname, networkMirror, url } = origin;
  const settings = settingsOf(origin, origin.token?.secret, proxy);
  const http = new HttpClient(settings, limits);
  const examined: ExaminedOrigin = {
    hostname,
    url: networkMirror ?? new URL("/.well-known/terraform.json", url),
    isNetworkMirror: networkMirror !== undefined,
    ask: (at, signal) => http.fetchAnswer(at, mostBytes, signal),
  };
  return { http, examined };
}
