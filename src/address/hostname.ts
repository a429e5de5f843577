import { domainToASCII, domainToUnicode } from "node:url";
import { failure } from "../errors/index.ts";
import { isIP } from "node:net";

/** A registry's hostname in ASCII form, lower case, with `:port` unless that is 443. */
export type Hostname = string & { readonly __brand: "hostname" };

const labels =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Lower-case labels and an optional port; `:443` is dropped (Remote Service Discovery, "hostnames"). */
export function parseHostname(text: string): Hostname {
  const colon = text.indexOf(":");
  const name = colon < 0 ? text : text.slice(0, colon);
  const port = colon < 0 ? undefined : text.slice(colon + 1);
  const isPort =
    /^[1-9][0-9]{0,4}$/.test(port ?? "1") && Number(port ?? 1) <= 65535;
  if (!labels.test(name) || !isPort)
    throw failure(
      "malformed-address",
      "hostname",
      text,
      "lower-case letters, digits and dashes in labels, with an optional port",
    );
  return (
    port === undefined || port === "443" ? name : `${name}:${port}`
  ) as Hostname;
}

/**
 * A hostname as people write it in configurations and SPECs: in any case, and in any script, of which clients take
 * the ASCII form (svchost, "ForComparison").
 */
export function hostnameAsWritten(text: string): Hostname {
  const [, name = text, port = ""] = /^(.*?)(:[^:]*)?$/su.exec(text) ?? [];
  // ASCII is left alone: of "1.2" this would make an address.
  const ascii = /^[ -~]*$/.test(name) ? name : domainToASCII(name);
  return parseHostname(ascii === "" ? text : `${ascii.toLowerCase()}${port}`);
}

/** The form in which clients write a hostname into lock files (svchost, "ForDisplay"). */
export function displayHostname(hostname: string): string {
  const [name = "", ...port] = hostname.split(":");
  const shown = name.includes("xn--") ? domainToUnicode(name) : name;
  return [shown === "" ? name : shown, ...port].join(":");
}

// Underscores are no host name, but machines are called so and TLS clients accept them.
const dnsName =
  /^(?=.{1,253}$)[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;

/** True for a host name in lower case, without a dot at the end, and for an address without a zone. */
export function isCertificateName(text: string): boolean {
  return isIP(text) !== 0 ? !text.includes("%") : dnsName.test(text);
}
