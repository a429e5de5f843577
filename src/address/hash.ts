import { failure } from "../errors/index.ts";

/** 64 lower-case hexadecimal digits, from a verified or unverified source. */
export type Sha256 = string & { readonly __brand: "sha256" };

/** `h1:` and the base64 of Go's dirhash over a package's files. */
export type PackageHash = string & { readonly __brand: "h1" };

export function parseSha256(text: string): Sha256 {
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw failure(
      "malformed-address",
      "SHA-256",
      text,
      "64 hexadecimal digits",
    );
  return text.toLowerCase() as Sha256;
}

/** True for a SHA-256 as it is written in names, in lower case. */
export function isSha256(text: string): text is Sha256 {
  return /^[0-9a-f]{64}$/.test(text);
}

export function parsePackageHash(text: string): PackageHash {
  if (!/^h1:[A-Za-z0-9+/]{43}=$/.test(text))
    throw failure(
      "malformed-address",
      "package hash",
      text,
      "h1: and 44 of base64",
    );
  return text as PackageHash;
}
