import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from "node:tls";

/** Node's own list, the machine's list and the extra PEM, so that a corporate CA works wherever it was installed. */
export function trustedCertificates(
  extra: string | undefined,
): readonly string[] {
  const machine = (["default", "system"] as const).flatMap((list) =>
    getCACertificates(list),
  );
  const own = extra === undefined ? [] : [extra];
  return [...new Set([...machine, ...own])];
}

/** For all connections of one client: to read a few hundred certificates for each one would hold up everybody. */
export function makeTrust(extra: string | undefined): SecureContext {
  return createSecureContext({ ca: [...trustedCertificates(extra)] });
}
