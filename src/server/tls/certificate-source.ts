import type { StoreLayout } from "../../store/layout.ts";
import { certificateNames } from "./certificate-names.ts";
import { loadCertificateFiles, type ServerCertificate } from "./certificate.ts";
import { loadSelfSigned } from "./self-signed-certificate.ts";

/** Choice in `listen.tls`. */
export type TlsChoice =
  | { readonly kind: "self-signed" }
  | { readonly kind: "off" }
  | {
      readonly kind: "files";
      readonly certificate: string;
      readonly key: string;
    };

/** Loads the certificate again each time; undefined when TLS is off. `caFile` is set when clients do not know the CA. */
export type CertificateSource = (
  now: Date,
) => Promise<
  (ServerCertificate & { readonly caFile: string | undefined }) | undefined
>;

export function makeCertificateSource(
  {
    host,
    tls,
    names,
  }: {
    readonly host: string;
    readonly tls: TlsChoice;
    readonly names: readonly string[];
  },
  paths: StoreLayout["tls"],
  machineName: string,
): CertificateSource {
  switch (tls.kind) {
    case "off":
      return () => Promise.resolve(undefined);
    case "files":
      return async (now) => ({
        ...(await loadCertificateFiles(tls, now)),
        caFile: undefined,
      });
    case "self-signed":
      return (now) =>
        loadSelfSigned(paths, certificateNames(host, machineName, names), now);
  }
}
