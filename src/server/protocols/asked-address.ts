import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import type { RoutedContext } from "../http/request-context.ts";

/** Throws malformed-address. */
export function readProvider({
  params,
}: Pick<RoutedContext, "params">): ProviderAddress {
  const { hostname = "", namespace = "", type = "" } = params;
  return providerAddress(hostname, namespace, type);
}

/** Throws malformed-address. */
export function readRelease(
  ctx: Pick<RoutedContext, "params">,
): ReleaseAddress {
  const provider = readProvider(ctx);
  return { provider, version: parseVersion(ctx.params.version ?? "") };
}
