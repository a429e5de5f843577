import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure, isAbsence, isFailure } from "../../errors/index.ts";
import type { HttpClient } from "../http/http-client.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import { formatPublicUrl } from "../guard/address-guard.ts";
import type { ProviderOrigin } from "./provider-origin.ts";
import { parsePackage, parseVersions } from "./registry-answers.ts";
import type { ServiceDiscovery } from "./service-discovery.ts";

/** Platforms to try, in this order, when the registry lists none. */
const commonPlatforms = [
  ...["linux_amd64", "darwin_arm64", "windows_amd64", "linux_arm64"],
  ...["darwin_amd64", "linux_386", "linux_arm", "windows_386"],
  ...["windows_arm64", "freebsd_amd64"],
];

/** An origin that speaks the provider registry protocol. */
export function makeProviderRegistry(
  http: HttpClient,
  discovery: ServiceDiscovery,
  limits: OriginLimits,
): ProviderOrigin {
  return {
    /** "List Available Versions". */
    async listVersions(address, signal) {
      const base = await discovery.findService("providers.v1", signal);
      const path = `${address.namespace}/${address.type}/versions`;
      const subject = formatProviderAddress(address);
      const { url, value } = await http
        .fetchJson(new URL(path, base), signal)
        .catch(absentOn404(subject));
      return parseVersions(url, value, limits.versions);
    },

    /** "Find a Provider Package", the common platforms first. */
    async findPackage(address, version, platforms, signal) {
      const base = await discovery.findService("providers.v1", signal);
      const release = `${formatProviderAddress(address)} ${version}`;
      const names = platforms?.map(formatPlatform) ?? commonPlatforms;
      const candidates = new Set<string>();
      for (const name of commonPlatforms)
        if (names.includes(name)) candidates.add(name);
      for (const name of names) candidates.add(name);
      let absence: Error | undefined;
      for (const name of [...candidates].slice(0, commonPlatforms.length))
        try {
          const platform = parsePlatform(name);
          const path = `${address.namespace}/${address.type}/${version}/download/${platform.os}/${platform.arch}`;
          const { url, value } = await http
            .fetchJson(new URL(path, base), signal)
            .catch(absentOn404(`${release} for ${name}`));
          return parsePackage(url, value, address, version, platform);
        } catch (error) {
          if (!isAbsence(error)) throw error;
          if (names.length === 1) absence = error;
        }
      throw absence ?? failure("not-found", release);
    },

    /** SHA256SUMS and its signature, at the same time. */
    async fetchChecksums({ checksums: { url, signatureUrl } }, signal) {
      const fetch = (from: URL, most: number) =>
        http
          .fetchDocument(from, most, signal)
          .catch(absentOn404(formatPublicUrl(from)));
      const [document, signature] = await Promise.all([
        fetch(url, limits.checksums),
        signatureUrl && fetch(signatureUrl, limits.signature),
      ]);
      return { document: document.bytes, signature: signature?.bytes };
    },

    openArchive: (url, signal) => http.openArchive(url, signal),
  };
}

/** Takes 404 and 410 on the thing itself for its absence; elsewhere, as in discovery, they are an origin's failure. */
export function absentOn404(subject: string): (error: unknown) => never {
  return (cause) => {
    const isGone =
      isFailure(cause, "origin-status") && [404, 410].includes(cause.status);
    throw isGone ? failure("not-found", subject, { cause }) : cause;
  };
}
