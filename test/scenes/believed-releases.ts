import { createHash } from "node:crypto";
import { formatArchiveName } from "../../src/address/archive-name.ts";
import { parsePlatform } from "../../src/address/platform.ts";
import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import {
  bindPackages,
  checksumsSubject,
  type Release,
} from "../../src/mirror/releases/release.ts";
import type { Fingerprint } from "../../src/verification/fingerprints.ts";
import type { SignatureDecision } from "../../src/verification/signatures.ts";
import {
  acceptUnsignedChecksums,
  verifySignedChecksums,
} from "../../src/verification/signed-checksums.ts";

export const address = {
  provider: providerAddress("registry.terraform.io", "acme", "thing"),
  version: parseVersion("1.0.0"),
};

/**
 * Parts of a release; archives by OS_ARCH, each named by any text in place of
 * its bytes.
 */
interface Believed {
  readonly archives?: Readonly<Record<string, string>>;
  /** Signer; undefined for an unsigned release. */
  readonly signedBy?: string | undefined;
  readonly keys?: readonly string[];
}

export const accepting = (signedBy: string): SignatureDecision => ({
  accepted: true,
  signedBy: signedBy as Fingerprint,
  createdAt: new Date("2025-01-01T00:00:00Z"),
  warning: undefined,
});

/** A release as it is after its signature was judged good, or excused. */
export async function believe({
  archives = { linux_amd64: "a" },
  signedBy,
  keys = ["KEYS"],
}: Believed): Promise<Release> {
  const { provider, version } = address;
  const lines = Object.entries(archives).map(([name, content]) => {
    const digest = createHash("sha256").update(content).digest("hex");
    const filename = formatArchiveName(provider, version, parsePlatform(name));
    return `${digest}  ${filename}\n`;
  });
  const document = Buffer.from(lines.join(""));
  const signature = Buffer.from("signature");
  const profile = "terraform" as const;
  const now = new Date("2026-01-01T00:00:00Z");
  const subject = checksumsSubject(address);
  const claim = { subject, document, signature, keys, profile, now };
  const checksums =
    signedBy === undefined
      ? acceptUnsignedChecksums(subject, document, "unsigned-when-published")
      : await verifySignedChecksums(claim, () =>
          Promise.resolve(accepting(signedBy)),
        );
  return {
    checksums,
    proof: {
      ...{ document, signature, keys, profile },
      ...{ exemption: checksums.exemption, verifiedAt: now, library: "none" },
    },
    packages: bindPackages(address, checksums),
    places: new Map(),
    keyLabels: [],
  };
}
