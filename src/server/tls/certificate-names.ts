import { isIP, isIPv6 } from "node:net";

// Underscores are no host name, but machines are called so and TLS clients accept them.
const dnsName =
  /^(?=.{1,253}$)[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;
const everyAddress = ["0.0.0.0", "::"];

/** True for the listen hosts that stand for all of a machine's addresses. */
export function isEveryAddress(listenHost: string): boolean {
  return everyAddress.includes(normalName(listenHost));
}

/** What a certificate is for: this machine (first), itself by loopback, and the address it listens on. */
export function certificateNames(
  listenHost: string,
  hostname: string,
): readonly string[] {
  const names = [hostname, "localhost", "127.0.0.1", "::1", listenHost]
    .map(normalName)
    .filter((name) => isIP(name) !== 0 || dnsName.test(name))
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
