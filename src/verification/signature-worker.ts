import * as openpgp from "openpgp";
import type { Fingerprint } from "./fingerprints.ts";
import type {
  SignatureAccepted,
  SignatureDecision,
  SignatureProfile,
  SignatureQuestion,
  SignatureRefused,
  SignatureTask,
} from "./signatures.ts";

export default function answer(task: SignatureTask) {
  task.begun.postMessage(undefined);
  task.begun.close();
  return decideSignature(task.question);
}

const { hash, publicKey, signature: types } = openpgp.enums;

/** What the clients compute with. */
const clientRules: openpgp.Config = {
  ...openpgp.config,
  rejectHashAlgorithms: new Set([hash.md5, hash.ripemd]),
  rejectMessageHashAlgorithms: new Set(),
  rejectPublicKeyAlgorithms: new Set(),
  rejectCurves: new Set(),
  minRSABits: 1024,
};
const strictRules: openpgp.Config = {
  ...clientRules,
  rejectHashAlgorithms: new Set([hash.md5, hash.ripemd, hash.sha1]),
  rejectPublicKeyAlgorithms: new Set([publicKey.dsa]),
  minRSABits: 2047,
};

const expiries = {
  "key-expired": "its signing key has expired",
  "signature-expired": "it or a signature of its key has expired",
};
const excused: Record<SignatureProfile, readonly (keyof typeof expiries)[]> = {
  terraform: ["key-expired"],
  opentofu: ["key-expired", "signature-expired"],
  enforce: [],
  strict: [],
};

/**
 * Without a date the library counts all revocations, soft ones too, and no expiry, which is left to us. Its types leave
 * null out.
 */
const noDate = null as unknown as Date;

/** The library's class; its types leave the method out. */
interface Certificate extends openpgp.PublicKey {
  getPrimarySelfSignature(date: Date): Promise<openpgp.SignaturePacket>;
}

class Refused extends Error {
  readonly reason: SignatureRefused["reason"];
  constructor(reason: SignatureRefused["reason"], detail: string) {
    super(detail);
    this.reason = reason;
  }
}

function refuse(reason: SignatureRefused["reason"]): (error: unknown) => never {
  return (error) => {
    throw new Refused(reason, error instanceof Error ? error.message : "");
  };
}

/**
 * The first signature whose issuer is among the keys decides; docs/openpgp.md names where clients decide otherwise.
 * Never throws on account of what it is given. SignatureThreads bounds how long it takes.
 */
export async function decideSignature(
  question: SignatureQuestion,
): Promise<SignatureDecision> {
  try {
    const certificates = await readCertificates(question.keys);
    const { packets } = await openpgp
      .readSignature({ binarySignature: question.signature })
      .catch(refuse("unreadable-signature"));
    for (const packet of packets) {
      // Another class stands for what cannot be read; it names no issuer.
      if (!(packet instanceof openpgp.SignaturePacket)) continue;
      const { issuerKeyID: id } = packet;
      const certificate = certificates.find((one) => one.getKeys(id)[0]);
      if (!certificate) continue;
      // First, since strict rules take a revocation with SHA-1 for none.
      const decision = await judge(packet, certificate, question, clientRules);
      return question.profile === "strict"
        ? await judge(packet, certificate, question, strictRules)
        : decision;
    }
    throw new Refused("unknown-issuer", "no key of the registry made it");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { accepted: false, reason: error.reason, detail: error.message };
  }
}

/** A block that cannot be read is no key; the others count. */
async function readCertificates(blocks: readonly string[]) {
  const certificates: openpgp.PublicKey[] = [];
  let fault: unknown;
  for (const block of blocks)
    try {
      // Registries publish indented blocks, and OpenTofu reads them.
      const lines = block.split("\n").map((line) => line.trim());
      const armoredKeys = lines.join("\n");
      certificates.push(...(await openpgp.readKeys({ armoredKeys })));
    } catch (error) {
      fault ??= error;
    }
  if (certificates.length === 0 && fault !== undefined)
    refuse("unreadable-key")(fault);
  return certificates as Certificate[];
}

async function judge(
  packet: openpgp.SignaturePacket,
  certificate: Certificate,
  { document, profile, now }: SignatureQuestion,
  rules: openpgp.Config,
): Promise<SignatureAccepted> {
  const { signatureType: type, issuerKeyID: issuer, created } = packet;
  // The library would verify a standalone signature, which is over nothing.
  if (type !== types.binary && type !== types.text)
    throw new Refused("bad-signature", `it is of type ${type}`);
  const signer = await certificate
    .getSigningKey(issuer, noDate, undefined, rules)
    .catch((error: unknown) => {
      const isRevoked = String(error).endsWith(" is revoked");
      return refuse(isRevoked ? "revoked" : "unusable-key")(error);
    });
  const { packets } = await openpgp.createMessage({ binary: document });
  const [literal = {}] = packets;
  await packet
    .verify(signer.keyPacket, type, literal, noDate, true, rules)
    .catch(refuse("bad-signature"));
  const self = await certificate.getPrimarySelfSignature(noDate);
  const subkey = signer instanceof openpgp.Subkey ? signer : undefined;
  const binding = await subkey?.verify(noDate);
  const isOver = (from: Date | null, lifetime: number | null = 0) => {
    const age = Math.floor(now.getTime() / 1000) - Number(from) / 1000;
    // A publisher's clock may be a day ahead of this one.
    if (age < -86_400)
      throw new Refused("signature-expired", "it or its key is of the future");
    return Boolean(lifetime) && age > Number(lifetime);
  };
  const overKeys = [
    isOver(certificate.getCreationTime(), self.keyExpirationTime),
    isOver(signer.getCreationTime(), binding?.keyExpirationTime),
  ];
  const overSignatures = [packet, self, binding, binding?.embeddedSignature]
    .filter((one) => one instanceof openpgp.SignaturePacket)
    .map((one) => isOver(one.created, one.signatureExpirationTime));
  // The clients' order.
  const expiry = overKeys.includes(true) ? "key-expired" : "signature-expired";
  const isExpired = [...overKeys, ...overSignatures].includes(true);
  if (isExpired && !excused[profile].includes(expiry))
    throw new Refused(expiry, expiries[expiry]);
  return {
    accepted: true,
    signedBy: certificate.getFingerprint().toUpperCase() as Fingerprint,
    createdAt: created ?? now,
  };
}
