import { isIPv6 } from "node:net";
import { isCertificateName } from "../../address/certificate-name.ts";

const everyAddress = ["0.0.0.0", "::"];

/** True for the listen hosts that stand for all of a machine's addresses. */
export function isEveryAddress(listenHost: string): boolean {
  return everyAddress.includes(normalName(listenHost));
}

/**
 * Lists the names in a certificate: the configured ones, this machine,
 * loopback, and the address where it listens.
 */
export function certificateNames(
  listenHost: string,
  hostname: string,
  given: readonly string[] = [],
): readonly string[] {
  const own = [hostname, "localhost", "127.0.0.1", "::1", listenHost];
  const names = [...given, ...own]
    .map(normalName)
    .filter(isCertificateName)
    .filter((name) => !everyAddress.includes(name));
  return [...new Set(names)];
}

/** Lower case, IPv6 in its shortest form and without a zone, no dot at the end. */
function normalName(text: string): string {
  const [name = ""] = text.toLowerCase().split("%");
  return isIPv6(name)
    ? new URL(`https://[${name}]/`).hostname.slice(1, -1)
    : name.replace(/\.$/, "");
}
