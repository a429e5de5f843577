import {
  isPrerelease,
  newestFirst,
  parseVersion,
} from "../../../src/address/version.ts";
import type { Offer, Registry } from "../world/registry.ts";
import type { Settings } from "../world/settings.ts";
import {
  decideToySignature,
  isStrict,
  readKeyBlock,
  type KeyName,
} from "../world/toy-keys.ts";

/** Provider as a registry or a bundle showed it at one moment. */
export interface Contact {
  readonly versions: ReadonlySet<string>;
  readonly published: ReadonlySet<KeyName>;
  /** Signer of the newest release that verified, if it was signed. */
  readonly key: KeyName | undefined;
  /** Wall clock. */
  readonly at: number;
  /** True for what may only be guessed: it excuses, and promises nothing. */
  readonly isGuess?: boolean;
}

/**
 * First contacts as far as answers show them: what was shown before the first good
 * answer may have been the first contact, what was shown after it was not.
 */
export class Contacts {
  readonly #possible = new Map<string, readonly Contact[]>();
  readonly #certain = new Set<string>();
  readonly #firstKeys = new Set<KeyName | undefined>();
  #isKnown = false;

  /** Notes what the mirror may have made contact by. */
  note(type: string, contacts: readonly Contact[], hasApproved: boolean): void {
    if (contacts.length === 0 || this.#certain.has(type)) return;
    this.#possible.set(type, [...this.of(type), ...contacts]);
    if (this.#isKnown) return;
    for (const { key } of contacts) this.#firstKeys.add(key);
    if (hasApproved) this.#firstKeys.add(undefined);
  }

  /** Notes that the mirror answered for a provider, so that contact was made. */
  settle(type: string): void {
    this.#certain.add(type);
    this.#isKnown = true;
  }

  of(type: string): readonly Contact[] {
    return this.#possible.get(type) ?? [];
  }

  /** True when the key is that of the namespace's first contact in any case. */
  isSurelyFirst(key: KeyName): boolean {
    return (
      this.#isKnown && this.#firstKeys.size === 1 && this.#firstKeys.has(key)
    );
  }

  mayBeFirst(key: KeyName): boolean {
    return this.#firstKeys.has(key);
  }
}

/** An offer as a client of the registry sees it, with the signers that its blocks take back, and those whose blocks are good. */
export function showOffer(
  { signed, blocks }: Offer,
  { signatures, profile }: Settings,
  now: Date,
) {
  const { signature, sha256sums } = signed;
  const isExcused =
    signatures === "off" ||
    (signatures === "when-published" && blocks.length === 0);
  const isSigned =
    signature !== undefined &&
    decideToySignature(signature, sha256sums, blocks, { profile, now })
      .accepted;
  // Signatures of a revoked key, and where it counts of an expired one, no longer hold.
  const listed = (isBack: boolean): readonly (KeyName | undefined)[] =>
    blocks.flatMap((block) => {
      const { name, state } = readKeyBlock(block);
      const isExpired = state === "expired" && isStrict(profile);
      const isOver = state === "revoked" || isExpired;
      return name && isOver === isBack ? [name] : [];
    });
  return {
    // An exemption takes the document alone.
    signed: isExcused
      ? { ...signed, signer: undefined, signature: undefined }
      : signed,
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
  return blocks.flatMap((block) => readKeyBlock(block).name ?? []);
}

/** Releases before prereleases, newest first. */
function orderReleases(versions: readonly string[]): readonly string[] {
  const ordered = newestFirst(versions.map(parseVersion));
  return [
    ...ordered.filter((version) => !isPrerelease(version)),
    ...ordered.filter(isPrerelease),
  ];
}
