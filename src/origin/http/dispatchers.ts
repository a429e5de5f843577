import type { SecureContext } from "node:tls";
import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";
import { makeTrust } from "../../network/trusted-certificates.ts";
import { guardedLookup } from "../guard/address-guard.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";

/**
 * Connections to one host: more than all downloads of an origin, and few enough
 * for its good will and our descriptors.
 */
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
  const trust = makeTrust(settings.ca);
  const configured = makeDispatcher(settings, limits, trust, {});
  const guarded = settings.allowPrivateAddresses
    ? configured
    : makeDispatcher(settings, limits, trust, { lookup: guardedLookup });
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
  secureContext: SecureContext,
  resolver: { lookup?: typeof guardedLookup },
): Dispatcher {
  const { connect: timeout } = limits;
  const tls = { secureContext, timeout, ...resolver };
  const options = {
    headersTimeout: limits.firstByte,
    bodyTimeout: limits.idle,
    maxHeaderSize: 64 * 1024,
    allowH2: false,
    connections: mostConnections,
  };
  if (proxy.https === undefined) return new Agent({ ...options, connect: tls });
  return new EnvHttpProxyAgent({
    ...options,
    connect: tls,
    requestTls: { secureContext, timeout },
    proxyTls: { secureContext, timeout },
    httpsProxy: proxy.https.href,
    noProxy: proxy.no ?? "",
  });
}
