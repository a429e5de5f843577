import { getCACertificates } from "node:tls";
import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";
import { guardedLookup } from "../guard/address-guard.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";

/** To one host: more than all downloads of an origin, and few enough for its good will and our descriptors. */
const mostConnections = 48;

/** Two connection pools of one origin: for hosts the operator wrote, and for all others. */
export interface Dispatchers {
  readonly configured: Dispatcher;
  readonly guarded: Dispatcher;
  close(): Promise<void>;
}

/** Names behind a proxy are resolved by the proxy, so there only the URL is checked. */
export function makeDispatchers(
  settings: OriginSettings,
  limits: OriginLimits,
): Dispatchers {
  const trusted = trustedCertificates(settings.ca);
  const configured = makeDispatcher(settings, limits, trusted, {});
  const guarded = settings.allowPrivateAddresses
    ? configured
    : makeDispatcher(settings, limits, trusted, { lookup: guardedLookup });
  return {
    configured,
    guarded,
    close: async () => {
      await Promise.all([configured.destroy(), guarded.destroy()]);
    },
  };
}

function makeDispatcher(
  { proxy }: OriginSettings,
  limits: OriginLimits,
  ca: readonly string[],
  resolver: { lookup?: typeof guardedLookup },
): Dispatcher {
  const tls = { ca: [...ca], timeout: limits.connect, ...resolver };
  const options = {
    headersTimeout: limits.firstByte,
    bodyTimeout: limits.idle,
    maxHeaderSize: 16 * 1024,
    allowH2: false,
    connections: mostConnections,
  };
  if (proxy.https === undefined) return new Agent({ ...options, connect: tls });
  return new EnvHttpProxyAgent({
    ...options,
    connect: tls,
    requestTls: { ca: [...ca], timeout: limits.connect },
    proxyTls: { ca: [...ca], timeout: limits.connect },
    httpsProxy: proxy.https.href,
    noProxy: proxy.no ?? "",
  });
}

/** Node's own list, the machine's list and the extra file, so that a corporate CA works wherever it was installed. */
export function trustedCertificates(
  extra: string | undefined,
): readonly string[] {
  const machine = (["default", "system"] as const).flatMap((list) =>
    getCACertificates(list),
  );
  const own = extra === undefined ? [] : [extra];
  return [...new Set([...machine, ...own])];
}
