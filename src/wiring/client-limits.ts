import type { Configuration } from "../config/load.ts";
import { ClientAddresses } from "../server/http/client-address.ts";
import { ConnectionCaps } from "../server/http/connection-caps.ts";
import { MetadataCaps } from "../server/access/metadata-caps.ts";
import type { listenerLimits } from "../server/http/listener.ts";
import type { DaemonTelemetry } from "./telemetry.ts";

/** Sets up the addresses and the limits of clients. */
export function wireClientLimits(
  { listen, limits }: Configuration,
  { logger, metrics }: DaemonTelemetry,
  within: typeof listenerLimits,
) {
  const clients = new ClientAddresses(listen.trustedProxies);
  const most = limits.connectionsPerClient;
  const refused = (client: string, first: boolean) => {
    metrics.count("connectionsRefused", {});
    if (first) logger.warn({ client, most }, "client connections refused");
  };
  return {
    clients,
    limits: { ...limits, ...within },
    metadataCaps: new MetadataCaps(limits.metadataPerClient),
    connectionCaps: new ConnectionCaps(most, clients, refused),
  };
}
