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

const keyStates = ["valid", "revoked", "expired", "garbage"] as const;

export type KeyState = (typeof keyStates)[number];

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

export function fingerprintOf(name: KeyName): string {
  return fingerprints.get(name) ?? "";
}

function armor(name: KeyName, state: KeyState): string {
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

const blocks = new Map(
  keyNames.flatMap((name) =>
    keyStates.map((state) => [`${name} ${state}`, armor(name, state)]),
  ),
);

export function formatKeyBlock(name: KeyName, state: KeyState = "valid") {
  return blocks.get(`${name} ${state}`) ?? "";
}

/** The name and the state of a block; neither for garbage. */
export function readKeyBlock(block: string) {
  const [, name, state] = /^Comment: (\w+) (\w+)$/m.exec(block) ?? [];
  return { name, state } as {
    readonly name?: KeyName;
    readonly state?: KeyState;
  };
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
  signature: Uint8Array,
  sha256sums: string,
  armored: readonly string[],
  { profile, now }: Pick<SignatureQuestion, "profile" | "now">,
): SignatureDecision {
  const [signer = "", signedAt = "", signed = ""] = Buffer.from(signature)
    .toString()
    .split(" ");
  for (const block of armored) {
    const { name, state } = readKeyBlock(block);
    if (name !== signer || signed !== sha256sums) continue;
    if (state === "revoked") return refuse("revoked");
    if (state === "expired" && isStrict(profile)) return refuse("key-expired");
    if (state === "valid" && isAhead(Number(signedAt), now))
      return refuse("signature-expired");
    return {
      accepted: true,
      signedBy: fingerprintOf(name) as Fingerprint,
      createdAt: new Date(Number(signedAt)),
    };
  }
  return refuse("unknown-issuer");
}

/** True for a signature that is refused because its date is more than a day ahead. */
export function isAhead(signedAt: number, now: Date): boolean {
  return signedAt > now.getTime() + 86_400_000;
}

/** True where an expired key signs nothing. */
export function isStrict(profile: SignatureProfile): boolean {
  return profile === "enforce" || profile === "strict";
}

type Refusal = SignatureDecision & { readonly accepted: false };

function refuse(reason: Refusal["reason"]): Refusal {
  return { accepted: false, reason, detail: "as the toy says" };
}

/** Judge of toy signatures, at once and without arithmetic. */
export const toyJudge: SignatureJudge = {
  library: "toy 1",
  decide: (_, question) => {
    const { signature, document, keys } = question;
    const sha256sums = hash("sha256", document);
    return Promise.resolve(
      decideToySignature(signature, sha256sums, keys, question),
    );
  },
};
