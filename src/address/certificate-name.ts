import { isIP } from "node:net";

// Underscores are no host name, but machines are called so and TLS clients accept them.
const dnsName =
  /^(?=.{1,253}$)[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;

/** True for a host name in lower case, without a dot at the end, and for an address without a zone. */
export function isCertificateName(text: string): boolean {
  return isIP(text) !== 0 ? !text.includes("%") : dnsName.test(text);
}
