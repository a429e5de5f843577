import { hash } from "node:crypto";
import { formatSignature, type KeyName } from "./toy-keys.ts";

/** A release by its names alone. */
export interface ReleaseName {
  readonly type: string;
  readonly version: string;
}

export function nameOfRelease({ type, version }: ReleaseName): string {
  return `${type}@${version}`;
}

/** SHA-256 of each archive, by OS_ARCH. */
export type Digests = Readonly<Record<string, string>>;

/** True where no platform has two digests. */
export function agree(one: Digests, other: Digests): boolean {
  return Object.entries(one).every(
    ([platform, sha256]) => (other[platform] ?? sha256) === sha256,
  );
}

/** True where one of the others has each archive. */
export function isWithin(one: Digests, others: readonly Digests[]): boolean {
  return Object.entries(one).every(([platform, sha256]) =>
    others.some((other) => other[platform] === sha256),
  );
}

/** A SHA256SUMS with one signature, or with none. */
export interface SignedText extends ReleaseName {
  readonly digests: Digests;
  readonly text: string;
  /** SHA-256 of the text. */
  readonly sha256sums: string;
  readonly signer: KeyName | undefined;
  /** Milliseconds since 1970, as the signature says. */
  readonly signedAt: number;
  readonly signature: Uint8Array | undefined;
}

export const platforms = [
  "linux_amd64",
  "windows_amd64",
  "darwin_arm64",
] as const;

/** Providers: two of the publisher, and one that only lies name. */
export const types = ["a", "b", "x"] as const;

export const versions = ["1.0.0", "1.1.0", "2.0.0", "9.0.0"] as const;

export function writeChecksums(name: ReleaseName, digests: Digests): string {
  return Object.entries(digests)
    .map(
      ([platform, sha256]) =>
        `${sha256}  terraform-provider-${name.type}_${name.version}_${platform}.zip\n`,
    )
    .join("");
}

/** Makes the document of a release, signed or not; `text` may name more than its archives. */
export function sign(
  { type, version }: ReleaseName,
  digests: Digests,
  signer: KeyName | undefined,
  signedAt: number,
  text = writeChecksums({ type, version }, digests),
): SignedText {
  const sha256sums = hash("sha256", text);
  const signature = signer && formatSignature(signer, signedAt, sha256sums);
  return {
    ...{ type, version, digests, text, sha256sums },
    ...{ signer, signedAt, signature },
  };
}
