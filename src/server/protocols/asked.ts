import { LRUCache } from "lru-cache";
import { parseArchiveName } from "../../address/archive-name.ts";
import { providerAddress } from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import type { Within } from "../../mirror/cache/metadata-cache.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { Authentication } from "../access/authentication.ts";
import type { RoutedContext } from "../http/request-context.ts";
import type { PublicAddress } from "./public-address.ts";

/** Parts that every protocol needs beside its mirror. */
export interface ProtocolParts {
  readonly authentication: Authentication;
  readonly publicAddress: PublicAddress;
  readonly audit: AuditLog;
  /** Milliseconds within which a request is answered or given up, as `answer`. */
  readonly limits: { readonly answer: number };
}

/** What is known is answered at once; a client that wants what is there now says so (RFC 9111, 5.2.1.4). */
export function withinFor({ req }: RoutedContext): Within {
  const isAnew = req.headers["cache-control"]?.includes("no-cache") === true;
  return { mayBeOld: !isAnew };
}

type Names = RoutedContext["params"];

/** Names that were asked for last, each as the same object; bounded because clients may request any. */
function remembering<T extends object>(
  keys: readonly string[],
  parse: (names: Names) => T,
): (names: Names) => T {
  const known = new LRUCache<string, T>({ max: 1_000 });
  return (names) => {
    let text = "";
    for (const key of keys) text += `/${names[key]}`;
    const found = known.get(text) ?? parse(names);
    known.set(text, found);
    return found;
  };
}

const ofProvider = ["hostname", "namespace", "type"];

export const readProvider = remembering(
  ofProvider,
  ({ hostname = "", namespace = "", type = "" }) =>
    providerAddress(hostname, namespace, type),
);

export const readRelease = remembering(
  [...ofProvider, "version"],
  (names): ReleaseAddress => {
    const provider = readProvider(names);
    return { provider, version: parseVersion(names.version ?? "") };
  },
);

export const readPackage = remembering([...ofProvider, "archive"], (names) => {
  const provider = readProvider(names);
  const name = `${names.archive}.zip`;
  const { version, platform } = parseArchiveName(provider, name);
  return { address: readRelease({ ...names, version }), platform };
});
