import { hash } from "node:crypto";
import type { SignatureJudge } from "../../../src/mirror/releases/evidence.ts";
import type { Fingerprint } from "../../../src/verification/fingerprints.ts";
import type {
  SignatureDecision,
  SignatureProfile,
  SignatureQuestion,
} from "../../../src/verification/signatures.ts";

/** Publisher's keys (K) and keys of an attacker (E). */
export const keyNames = ["K1", "K2", "E1", "E2", "E3"] as const;

export type KeyName = (typeof keyNames)[number];

export const attackers: readonly KeyName[] = ["E1", "E2", "E3"];

/** States of a published key block. */
const keyStates = ["valid", "revoked", "expired", "garbage"] as const;

export type KeyState = (typeof keyStates)[number];

export interface PublishedKey {
  readonly name: KeyName;
  readonly state: KeyState;
}

/** A primary key (Ed25519) whose secret no one has. */
function packetOf(name: KeyName): Buffer {
  const curve = Buffer.from("092b06010401da470f01", "hex");
  const point = [Buffer.of(1, 7, 0x40), Buffer.alloc(32, name)];
  return Buffer.concat([Buffer.of(4, 0x65, 0, 0, 0, 22), curve, ...point]);
}

const fingerprints = new Map(
  keyNames.map((name) => {
    const key = packetOf(name);
    const framed = Buffer.concat([Buffer.of(0x99, 0, key.length), key]);
    return [name, hash("sha1", framed).toUpperCase()] as const;
  }),
);

function armor({ name, state }: PublishedKey): string {
  if (state === "garbage") return `garbage in place of ${name}`;
  const [key, id] = [packetOf(name), Buffer.from(`toy ${name}`)];
  const packets = [
    ...[Buffer.of(0xc6, key.length), key],
    ...[Buffer.of(0xcd, id.length), id],
  ];
  const body = Buffer.concat(packets).toString("base64");
  const line = (word: string) => `-----${word} PGP PUBLIC KEY BLOCK-----`;
  const comment = `Comment: ${name} ${state}`;
  return [line("BEGIN"), comment, "", body, line("END"), ""].join("\n");
}

const published = keyNames.flatMap((name) =>
  keyStates.map((state) => ({ name, state })),
);
const blocks = new Map(published.map((key) => [armor(key), key]));
const texts = new Map(
  [...blocks].map(([text, { name, state }]) => [`${name} ${state}`, text]),
);

export function fingerprintOf(name: KeyName): string {
  return fingerprints.get(name) ?? "";
}

export function formatKeyBlock({ name, state }: PublishedKey): string {
  return texts.get(`${name} ${state}`) ?? "";
}

/** Reads a block; undefined for garbage. */
export function readKeyBlock(block: string): PublishedKey | undefined {
  const key = blocks.get(block);
  return key?.state === "garbage" ? undefined : key;
}

export function formatSignature(
  signer: KeyName,
  signedAt: number,
  sha256sums: string,
): Uint8Array {
  return Buffer.from(`${signer} ${signedAt} ${sha256sums}`);
}

/** Decides on toy signatures as the real decision does on real ones: the first block that is the signer's decides, and one that cannot be read is none. */
export function decideToySignature(
  signature: string,
  sha256sums: string,
  armored: readonly string[],
  { profile, now }: Pick<SignatureQuestion, "profile" | "now">,
): SignatureDecision {
  const [signer = "", signedAt = "", signed = ""] = signature.split(" ");
  for (const block of armored) {
    const key = readKeyBlock(block);
    if (key?.name !== signer || signed !== sha256sums) continue;
    const { name, state } = key;
    if (state === "revoked") return refuse("revoked", "its key is revoked");
    if (state === "expired" && isStrict(profile))
      return refuse("key-expired", "its key has expired");
    if (state === "valid" && isAhead(Number(signedAt), now))
      return refuse("signature-expired", "it is dated in the future");
    return accept(name, Number(signedAt), state === "expired");
  }
  return refuse("unknown-issuer", "no signing key of the registry made it");
}

/** True for a signature that is refused because its date is more than a day ahead. */
export function isAhead(signedAt: number, now: Date): boolean {
  return signedAt > now.getTime() + 86_400_000;
}

/** True where an expired key signs nothing. */
export function isStrict(profile: SignatureProfile): boolean {
  return profile === "enforce" || profile === "strict";
}

/** Judge of toy signatures, at once and without arithmetic; `digestOf` names a document. */
export function toyJudge(
  digestOf: (document: Uint8Array) => string,
): SignatureJudge {
  return {
    library: "toy 1",
    decide: (_, question: SignatureQuestion) =>
      Promise.resolve(
        decideToySignature(
          Buffer.from(question.signature).toString(),
          digestOf(question.document),
          question.keys,
          question,
        ),
      ),
  };
}

type Refusal = SignatureDecision & { readonly accepted: false };

function refuse(reason: Refusal["reason"], detail: string): Refusal {
  return { accepted: false, reason, detail };
}

function accept(
  signer: KeyName,
  signedAt: number,
  isExpired: boolean,
): SignatureDecision {
  return {
    accepted: true,
    signedBy: fingerprintOf(signer) as Fingerprint,
    createdAt: new Date(signedAt),
    warning: isExpired ? "its key has expired" : undefined,
  };
}
