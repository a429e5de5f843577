import { isWithin, type SignedText } from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";
import type { Contact } from "./contacts.ts";
import type { ShownText } from "./history.ts";
import type { Oracle } from "./oracle.ts";

/** Why a signer may count for a release. */
export type Reason =
  | "configured"
  | "approved"
  | "known"
  | "same-digests"
  | "existed"
  | "first-key"
  | "new"
  | "signatures-off"
  | "unsigned";

const dayOfGrace = 86_400_000;

/** Finds why the signer of a document may be acceptable (rule 4); undefined where nothing makes it so. */
export function findReason(
  oracle: Oracle,
  { signed, isVerified }: ShownText,
): Reason | undefined {
  const { settings, decided } = oracle;
  const { signer } = signed;
  if (!isVerified) return undefined;
  if (signer && decided.isCertain("revoked", signer, signed)) return undefined;
  if (settings.pins !== undefined)
    return signer && settings.pins.includes(signer) ? "configured" : undefined;
  if (settings.newKeys === "refuse") return undefined;
  return signer === undefined
    ? findUnsigned(oracle, signed)
    : findSigned(oracle, signed, signer);
}

/** True where the signer is acceptable in any case. */
export function isSurelyAcceptable(
  oracle: Oracle,
  { signed, isVerified }: ShownText,
): boolean {
  const { settings, decided, contacts, shown, firstSigners } = oracle;
  const { signer, type, version } = signed;
  if (!isVerified) return false;
  if (signer === undefined) return isSurelyExcused(oracle, signed);
  if (decided.isPossible("revoked", signer, signed)) return false;
  if (settings.pins !== undefined) return settings.pins.includes(signer);
  if (settings.newKeys === "refuse") return false;
  if (decided.isCertain("approved", signer, signed)) return true;
  if (settings.newKeys === "accept") return true;
  if (firstSigners.get(type) === signer) return true;
  if (contacts.isSurelyFirst(signer)) return true;
  const possible = contacts.of(type);
  // An old date excuses only the signer under whom a release was admitted first.
  const hasExisted = (contact: Contact) =>
    shown.accepted(signed).every((other) => other.signer === signer) &&
    existed(contact, version, signed.signedAt);
  return (
    possible.length > 0 &&
    possible.every(({ isGuess }) => isGuess !== true) &&
    possible.every((contact) => contact.key === signer || hasExisted(contact))
  );
}

/** Finds out whether an unsigned release surely was there at first contact and never signed, or is what was admitted then. */
function isSurelyExcused(oracle: Oracle, signed: SignedText): boolean {
  const { settings, contacts, shown, first } = oracle;
  const { pins, newKeys, signatures } = settings;
  if (pins !== undefined || newKeys === "refuse") return false;
  const possible = contacts.of(signed.type);
  if (signatures !== "when-published" || possible.length === 0) return false;
  if (possible.some(({ isGuess }) => isGuess === true)) return false;
  if (isKeptUnsigned(oracle, signed)) return true;
  return (
    shown.accepted(signed).every(({ signer }) => signer === undefined) &&
    first.of(signed).by !== "signers" &&
    possible.every(({ versions }) => versions.has(signed.version))
  );
}

/** True for unsigned digests that were admitted before anything was signed: keys that a publisher adds take nothing away. */
export function isKeptUnsigned(
  { contacts, first }: Oracle,
  { digests, ...name }: SignedText,
): boolean {
  return (
    first.of(name).by === "nobody" &&
    contacts
      .of(name.type)
      .every(
        ({ key, versions }) => key === undefined || versions.has(name.version),
      ) &&
    isWithin(digests, [first.digestsOf(name)])
  );
}

function findSigned(
  oracle: Oracle,
  signed: SignedText,
  signer: KeyName,
): Reason | undefined {
  const { settings, decided, contacts, firstSigners } = oracle;
  const { type, version, signedAt } = signed;
  if (decided.isPossible("approved", signer, signed)) return "approved";
  const possible = contacts.of(type);
  const isKnown =
    contacts.mayBeFirst(signer) ||
    possible.some(({ key }) => key === signer) ||
    firstSigners.get(type) === signer;
  if (isKnown) return "known";
  if (possible.some((contact) => existed(contact, version, signedAt)))
    return "existed";
  if (isOfAcceptedDigests(oracle, signed)) return "same-digests";
  const isFirst = possible.some(({ key }) => key === undefined);
  if (isFirst && firstSigners.get(type) === undefined) return "first-key";
  return settings.newKeys === "accept" ? "new" : undefined;
}

function findUnsigned(oracle: Oracle, signed: SignedText): Reason | undefined {
  const { settings, contacts, first, shown, signedBefore } = oracle;
  const { type, version, digests } = signed;
  if (settings.signatures === "off") return "signatures-off";
  if (settings.signatures === "required") return undefined;
  if (first.of(signed).by === "signers") return undefined;
  const possible = contacts.of(type);
  const wasThere = possible.some(({ versions }) => versions.has(version));
  // Each digest may have been admitted while nothing was signed.
  const wasAdmitted = () =>
    shown
      .accepted(signed)
      .some(
        (other) =>
          other.signer === undefined && isWithin(digests, [other.digests]),
      );
  const isUnsigned =
    possible.some(({ key }) => key === undefined) &&
    (!signedBefore.has(type) || wasAdmitted());
  return wasThere || isUnsigned ? "unsigned" : undefined;
}

/** Every archive was admitted on the word of another signer, whom no operator revoked. */
function isOfAcceptedDigests(
  { shown, decided }: Oracle,
  signed: SignedText,
): boolean {
  const others = shown
    .accepted(signed)
    .filter(
      ({ signer }) =>
        signer !== signed.signer &&
        (signer === undefined || !decided.isCertain("revoked", signer, signed)),
    );
  return isWithin(
    signed.digests,
    others.map(({ digests }) => digests),
  );
}

function existed(contact: Contact, version: string, signedAt: number): boolean {
  return contact.versions.has(version) && signedAt <= contact.at + dayOfGrace;
}
