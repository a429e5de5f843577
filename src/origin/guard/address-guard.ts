import { lookup as resolve } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { failure } from "../../errors/index.ts";

/** Addresses that one origin's requests may reach beyond public addresses on port 443. */
export interface AddressAllowance {
  /** `host:port` pairs that the operator wrote into the configuration. */
  readonly configured: ReadonlySet<string>;
  readonly allowPrivateAddresses: boolean;
}

/** `host:port` of an https URL, the port always written. */
export function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port === "" ? "443" : url.port}`;
}

/** True when the operator named this host and port, or allows any, so that no rule of the guard applies. */
export function isFree(url: URL, allowance: AddressAllowance): boolean {
  const { allowPrivateAddresses, configured } = allowance;
  return allowPrivateAddresses || configured.has(hostAndPort(url));
}

/**
 * Refuses what the URL alone shows; undici resolves no IP literal, so literals are judged here and names in
 * `guardedLookup`.
 */
export function checkUrl(url: URL, allowance: AddressAllowance): void {
  const refuse = (reason: string) => {
    throw failure("origin-address-refused", formatPublicUrl(url), reason);
  };
  if (url.protocol !== "https:") refuse("it is not https");
  if (isFree(url, allowance)) return;
  if (url.port !== "") refuse(`port ${url.port} is not 443`);
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(literal) && !isPublicAddress(literal))
    refuse("it is not a public address");
}

/** A resolver for sockets that fails unless every address of the name is public. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const bad = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (bad !== undefined || first === undefined) {
      const reason = "its name leads to an address that is not public";
      const url = `https://${hostname}`;
      return callback(failure("origin-address-refused", url, reason), "", 0);
    }
    return options.all === true
      ? callback(null, addresses)
      : callback(null, first.address, first.family);
  });
};

/**
 * True for global unicast only: loopback, private, shared, link-local, unique
 * local, multicast, mapped, translated, tunnelled and documentation ranges are not.
 */
function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast") return false;
  return (
    address.kind() === "ipv4" ||
    (address.match(globalUnicast) && !address.match(documentation))
  );
}

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const documentation = ipaddr.IPv6.parseCIDR("3fff::/20");

/** A URL as it may appear in errors and logs: without user, query and fragment, which can carry secrets. */
export function formatPublicUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
