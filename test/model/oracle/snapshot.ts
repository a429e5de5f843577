import { newestFirst, parseVersion } from "../../../src/address/version.ts";
import { isPrerelease } from "../../../src/address/version-constraint.ts";
import type { SignedText } from "../world/documents.ts";
import type { Offer, Registry } from "../world/registry.ts";
import type { Settings } from "../world/settings.ts";
import {
  decideToySignature,
  isStrict,
  readKeyBlock,
  type KeyName,
  type PublishedKey,
} from "../world/toy-keys.ts";
import type { Contact } from "./contacts.ts";

/** Offer as a client of the registry sees it. */
export interface ShownOffer {
  readonly signed: SignedText;
  readonly isVerified: boolean;
  /** Signers that the blocks take back. */
  readonly takenBack: readonly (KeyName | undefined)[];
  /** Signers whose blocks are good. */
  readonly good: readonly (KeyName | undefined)[];
}

export function showOffer(
  { signed, blocks }: Offer,
  { signatures, profile }: Settings,
  now: Date,
): ShownOffer {
  const { signature, sha256sums } = signed;
  const isExcused =
    signatures === "off" ||
    (signatures === "when-published" && blocks.length === 0);
  const isSigned =
    signature !== undefined &&
    decideToySignature(Buffer.from(signature).toString(), sha256sums, blocks, {
      profile,
      now,
    }).accepted;
  const keys = blocks.map(readKeyBlock);
  const listed = (back: boolean) =>
    keys.flatMap((key) =>
      key && isTakenBack(key, profile) === back ? key.name : [],
    );
  return {
    signed: isExcused ? asUnsigned(signed) : signed,
    isVerified: isExcused || isSigned,
    takenBack: listed(true),
    good: listed(false),
  };
}

/** Finds what first contact would see now; a failing list is replaced by the last one. */
export function showContact(
  registry: Registry,
  type: string,
  settings: Settings,
  now: Date,
  remembered: readonly string[],
): Contact | undefined {
  const isGuess = registry.findFault("list", { type, version: "" });
  const listed = isGuess ? remembered : registry.listVersions(type);
  for (const version of orderReleases(listed)) {
    const name = { type, version };
    const offer = registry.findOffer(name);
    const fault =
      registry.findFault("release", name) ?? registry.findFault("sums", name);
    const shown = offer && showOffer(offer, settings, now);
    if (fault !== undefined || !offer || !shown?.isVerified) continue;
    return {
      versions: new Set(listed),
      published: new Set(listKeys(offer)),
      key: shown.signed.signer,
      at: now.getTime(),
      isGuess: isGuess !== undefined,
    };
  }
  return undefined;
}

/** Shows what first contact by a bundle finds of a provider in it; undefined where nothing verifies. */
export function showBundle(
  offers: readonly Offer[],
  type: string,
  settings: Settings,
  now: Date,
): Contact | undefined {
  const verified = offers.filter(
    (offer) =>
      offer.signed.type === type && showOffer(offer, settings, now).isVerified,
  );
  const versions = verified.map(({ signed }) => signed.version);
  const [version] = orderReleases(versions);
  const newest = verified.find(({ signed }) => signed.version === version);
  return (
    newest && {
      versions: new Set(versions),
      published: new Set(verified.flatMap(listKeys)),
      key: showOffer(newest, settings, now).signed.signer,
      at: now.getTime(),
    }
  );
}

function listKeys({ blocks }: Offer): readonly KeyName[] {
  return blocks.flatMap((block) => readKeyBlock(block)?.name ?? []);
}

/** Releases before prereleases, newest first. */
function orderReleases(versions: readonly string[]): readonly string[] {
  const ordered = newestFirst(versions.map(parseVersion));
  return [
    ...ordered.filter((version) => !isPrerelease(version)),
    ...ordered.filter(isPrerelease),
  ];
}

/** True for a key whose block says that its signatures no longer hold. */
function isTakenBack(
  { state }: PublishedKey,
  profile: Settings["profile"],
): boolean {
  return state === "revoked" || (state === "expired" && isStrict(profile));
}

/** An exemption takes the document alone. */
function asUnsigned(signed: SignedText): SignedText {
  return { ...signed, signer: undefined, signature: undefined };
}
