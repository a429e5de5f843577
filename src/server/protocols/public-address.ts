import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { LRUCache } from "lru-cache";
import type { ClientAddresses } from "../http/client-address.ts";
import { parseArchiveName } from "../../address/archive-name.ts";
import type { Platform } from "../../address/platform.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { Authentication } from "../access/authentication.ts";
import type { ArchiveResponseLimits } from "../http/archive-response.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import type { Within } from "../../mirror/cache/metadata-cache.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import type { RoutedContext } from "../http/request-context.ts";

/** Subject of a request or document, with the names in its path. */
export interface Subject {
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly provider?: string | undefined;
  /** HOSTNAME/NAMESPACE/NAME/SYSTEM. */
  readonly module?: string | undefined;
  readonly version?: string | undefined;
}

const host = /^(?:[a-z\d.-]+|\[[a-f\d:.]+\])(?::\d+)?$/i;
const names = /^[\w.:+-]+(?:\/[\w.:+-]+){2,4}$/;

/** Public URL of this mirror, for links that clients get. */
export class PublicAddress {
  readonly #configured: string | undefined;
  readonly #clients: ClientAddresses;

  constructor(configured: URL | undefined, clients: ClientAddresses) {
    this.#configured = configured?.href;
    this.#clients = clients;
  }

  /**
   * Returns the URL of the explanation; undefined where the mirror's URL is
   * unknown, or no page exists.
   */
  whyUrl(
    request: IncomingMessage,
    { provider, module, version }: Subject,
  ): string | undefined {
    const name = provider ?? module ?? "";
    const path = version === undefined ? name : `${name}/${version}`;
    const base = this.baseOf(request);
    return base === undefined || !names.test(path)
      ? undefined
      : `${base}why/${path}`;
  }

  /** The `url` of a `network_mirror` block; its host is left open where it is not known. */
  mirrorUrl(request: IncomingMessage): string {
    return `${this.baseOf(request) ?? "https://HOST/"}providers/`;
  }

  /**
   * Returns the root of this mirror for a document at `path`. It is absolute
   * where that URL is known: configured, or in the request of a client without
   * proxy. Behind a proxy path and host may differ, so the URL is relative
   * there.
   */
  rootFor(request: IncomingMessage, path: string): string {
    const direct = isDirect(request) ? this.baseOf(request) : undefined;
    const depth = path.split("/").length - 2;
    return this.#configured ?? direct ?? "../".repeat(depth);
  }

  /**
   * Returns the configured URL, else the one in the client's request. A trusted
   * proxy adds TLS.
   */
  baseOf({ socket, headers }: IncomingMessage): string | undefined {
    if (this.#configured !== undefined) return this.#configured;
    if (headers.host === undefined || !host.test(headers.host))
      return undefined;
    const isSecure =
      socket instanceof TLSSocket ||
      this.#clients.connected(socket).isTrustedProxy;
    return `${isSecure ? "https" : "http"}://${headers.host}/`;
  }
}

const forwarding = /^(?:via|forwarded|x-forwarded-.+|x-real-ip)$/;

/** Over TLS, and with no header of a proxy. */
function isDirect({ socket, headers }: IncomingMessage): boolean {
  const names = Object.keys(headers);
  return (
    socket instanceof TLSSocket && !names.some((name) => forwarding.test(name))
  );
}

/** Parts that every protocol needs beside its mirror. */
export interface ProtocolParts {
  readonly authentication: Authentication;
  readonly publicAddress: PublicAddress;
  readonly audit: AuditLog;
  readonly limits: ArchiveResponseLimits;
}

const whatIsKnown: Within = { mayBeOld: true };
const whatIsThere: Within = {};

/** What is known is answered at once; a client that wants what is there now says so (RFC 9111, 5.2.1.4). */
export function withinFor({ req }: Pick<RoutedContext, "req">): Within {
  return req.headers["cache-control"]?.includes("no-cache") === true
    ? whatIsThere
    : whatIsKnown;
}

/** Names that were asked for last, each as the same object; bounded because clients may request any. */
const providers = new LRUCache<string, ProviderAddress>({ max: 1_000 });
const releases = new LRUCache<string, ReleaseAddress>({ max: 1_000 });
const packages = new LRUCache<string, AskedPackage>({ max: 1_000 });

type Asked = Pick<RoutedContext, "params">;

/** An archive of a release. */
interface AskedPackage {
  readonly address: ReleaseAddress;
  readonly platform: Platform;
}

export function readProvider({ params }: Asked): ProviderAddress {
  const { hostname = "", namespace = "", type = "" } = params;
  const text = `${hostname}/${namespace}/${type}`;
  const known = providers.get(text);
  const address = known ?? providerAddress(hostname, namespace, type);
  if (known === undefined) providers.set(text, address);
  return address;
}

export function readRelease({ params }: Asked): ReleaseAddress {
  const { hostname = "", namespace = "", type = "", version = "" } = params;
  const text = `${hostname}/${namespace}/${type}/${version}`;
  const known = releases.get(text);
  if (known !== undefined) return known;
  const provider = readProvider({ params });
  const address = { provider, version: parseVersion(version) };
  releases.set(text, address);
  return address;
}

/** By the name of an archive. */
export function readPackage({ params }: Asked): AskedPackage {
  const { hostname = "", namespace = "", type = "", archive = "" } = params;
  const text = `${hostname}/${namespace}/${type}/${archive}`;
  const known = packages.get(text);
  if (known !== undefined) return known;
  const provider = readProvider({ params });
  const { version, platform } = parseArchiveName(provider, `${archive}.zip`);
  const address = readRelease({ params: { ...params, version } });
  const asked = { address, platform };
  packages.set(text, asked);
  return asked;
}
