import type { Configuration, OriginConfiguration } from "../../config/load.ts";
import type {
  ExaminedFolder,
  ExaminedOrigin,
} from "../../commands/doctor/origins.ts";
import { HttpClient } from "../../origin/http/http-client.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { surveyFolder } from "../../origin/folder/folder-survey.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { settingsOf } from "../clients.ts";

/** Bytes of a discovery document, which has about a thousand. */
const mostBytes = 64 * 1024;

/** The folders that stand for registries. */
export function wireExaminedFolders({
  origins,
  limits,
}: Configuration): readonly ExaminedFolder[] {
  return [...origins.values()].flatMap(
    ({ hostname, directory, signatures }): readonly ExaminedFolder[] => {
      if (directory === undefined) return [];
      const folder = new OriginFolder(directory);
      const signed = signatures === "required";
      const parts = { folder, limits: originLimits(limits), signed };
      const survey = (signal: AbortSignal) =>
        surveyFolder(parts, hostname, signal);
      return [{ hostname, path: folder.show([]), survey }];
    },
  );
}

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
  const { hostname, networkMirror, url } = origin;
  const settings = settingsOf(origin, origin.token?.secret, proxy);
  const http = new HttpClient(settings, originLimits(limits));
  const examined: ExaminedOrigin = {
    hostname,
    url: networkMirror ?? new URL("/.well-known/terraform.json", url),
    isNetworkMirror: networkMirror !== undefined,
    ask: (at, signal) => http.fetchAnswer(at, mostBytes, signal),
  };
  return { http, examined };
}
