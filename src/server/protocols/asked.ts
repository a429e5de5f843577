import { LRUCache } from "lru-cache";
import { parseArchiveName } from "../../address/archive-name.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
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

const whatIsKnown: Within = { mayBeOld: true };
const whatIsThere: Within = {};

/** What is known is answered at once; a client that wants what is there now says so (RFC 9111, 5.2.1.4). */
export function withinFor({ req }: Pick<RoutedContext, "req">): Within {
  return req.headers["cache-control"]?.includes("no-cache") === true
    ? whatIsThere
    : whatIsKnown;
}

type Asked = Pick<RoutedContext, "params">;

/** Names that were asked for last, each as the same object; bounded because clients may request any. */
function remembering<T extends object>(
  names: readonly string[],
  parse: (asked: Asked) => T,
): (asked: Asked) => T {
  const known = new LRUCache<string, T>({ max: 1_000 });
  return (asked) => {
    const text = names.map((name) => asked.params[name]).join("/");
    const found = known.get(text) ?? parse(asked);
    known.set(text, found);
    return found;
  };
}

const ofProvider = ["hostname", "namespace", "type"];

export const readProvider = remembering(
  ofProvider,
  ({ params }): ProviderAddress => {
    const { hostname = "", namespace = "", type = "" } = params;
    return providerAddress(hostname, namespace, type);
  },
);

export const readRelease = remembering(
  [...ofProvider, "version"],
  (asked): ReleaseAddress => {
    const provider = readProvider(asked);
    return { provider, version: parseVersion(asked.params.version ?? "") };
  },
);

export const readPackage = remembering(
  [...ofProvider, "archive"],
  ({ params }) => {
    const provider = readProvider({ params });
    const name = `${params.archive}.zip`;
    const { version, platform } = parseArchiveName(provider, name);
    const address = readRelease({ params: { ...params, version } });
    return { address, platform };
  },
);
