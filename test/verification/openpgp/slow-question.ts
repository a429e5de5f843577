import type { SignatureQuestion } from "../../../src/verification/openpgp/signature.ts";
import {
  Certificate,
  document,
  lastYear,
  now,
  signDocument,
} from "./certificates.ts";
import {
  armor,
  forgeKey,
  forgeSignature,
  packet,
  userIdHashed,
} from "./forge.ts";

const signer = forgeKey(lastYear);
export const good: SignatureQuestion = {
  document,
  signature: signDocument(signer),
  keys: [new Certificate(signer).userId("maker").armor()],
  profile: "terraform",
  now,
};
/** Fingerprint of the key that made the good signature. */
export const { fingerprint } = signer;

/** Within all limits: hundreds of signatures on a curve that is slow to compute on, each one valid. */
export function slowQuestion(): SignatureQuestion {
  const slow = forgeKey(lastYear, { kind: "brainpool" });
  const certificate = new Certificate(slow);
  const signed = userIdHashed(slow, "maker");
  const certification = packet(
    2,
    forgeSignature(slow, signed, { type: 0x13, createdAt: lastYear }),
  );
  certificate.packets.push(packet(13, Buffer.from("maker")));
  for (let count = 0; count < 250; count++)
    certificate.packets.push(certification);
  const block = armor(certificate.octets());
  return { ...good, keys: Array.from({ length: 3 }, () => block) };
}
