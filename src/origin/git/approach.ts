import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { failure } from "../../errors/index.ts";
import {
  checkUrl,
  hostAndPort,
  isConfigured,
  isPublicAddress,
  type AddressAllowance,
} from "../guard/address-guard.ts";
import type { OriginSettings } from "../guard/origin-settings.ts";
import { formatPublicUrl } from "../guard/public-url.ts";

/**
 * Connection of git to a host that passed the address guard, limited to the
 * checked addresses.
 */
interface GitApproach {
  readonly settings: readonly string[];
  readonly proxy: URL | undefined;
}

/** Throws origin-address-refused and origin-unreachable. */
export async function approachByHttps(
  url: URL,
  settings: AddressAllowance & Pick<OriginSettings, "proxy">,
): Promise<GitApproach> {
  const { proxy } = settings;
  checkUrl(url, settings);
  // A proxy resolves names itself, so there only the URL is checked.
  if (isProxied(url, proxy)) return { settings: [], proxy: proxy.https };
  const addresses = await resolve(url, isConfigured(url, settings), settings);
  const list = addresses.map((one) => (one.includes(":") ? `[${one}]` : one));
  const pin = `http.curloptResolve=${hostAndPort(url)}:${list.join(",")}`;
  return { settings: [pin], proxy: undefined };
}

async function resolve(
  url: URL,
  isNamed: boolean,
  { allowPrivateAddresses }: AddressAllowance,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = ipaddr.isValid(host)
    ? [host]
    : (await lookUp(url, host)).map(({ address }) => address);
  const free = isNamed || allowPrivateAddresses;
  if (!free && !found.every(isPublicAddress))
    throw failure(
      "origin-address-refused",
      formatPublicUrl(url),
      "its name leads to an address that is not public",
    );
  return found;
}

async function lookUp(url: URL, host: string) {
  try {
    return await lookup(host, { all: true });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw failure("origin-unreachable", formatPublicUrl(url), code, {
      cause: error,
    });
  }
}

/** NO_PROXY as clients read it: names with what is below them, `host:port`, or `*`. */
function isProxied(url: URL, { https, no }: OriginSettings["proxy"]): boolean {
  if (https === undefined) return false;
  const entries = (no ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return !entries.some((entry) => {
    const [name = "", port] = entry.toLowerCase().split(":");
    const bare = name.replace(/^\*?\./, "");
    const samePort = port === undefined || port === (url.port || "443");
    const isBelow = url.hostname.endsWith(`.${bare}`);
    return entry === "*" || (samePort && (url.hostname === bare || isBelow));
  });
}
