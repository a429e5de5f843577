import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from "node:tls";

/** Node's own list, the machine's list and the extra PEM, so that a corporate CA works wherever it was installed. */
export function trustedCertificates(
  extra: string | undefined,
): readonly string[] {
  const all = [...getCACertificates("default"), ...getCACertificates("system")];
  if (extra !== undefined) all.push(extra);
  return [...new Set(all)];
}

/**
 * Builds the trust store once for all connections of a client. Reading a few
 * hundred certificates for each connection would delay all requests.
 */
export function makeTrust(extra: string | undefined): SecureContext {
  return createSecureContext({
    ca: [...trustedCertificates(extra)],
    // As clients do, a certificate that was named is trusted itself, whether or not it is a CA.
    allowPartialTrustChain: extra !== undefined,
  });
}
