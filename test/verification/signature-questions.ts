import type { SignatureQuestion } from "../../src/verification/signatures.ts";
import {
  Certificate,
  document,
  lastYear,
  now,
  signDocument,
} from "./certificates.ts";
import { forgeKey, mpi, wrapKey } from "./forge.ts";

const signer = forgeKey(lastYear);

export const good: SignatureQuestion = {
  document,
  signature: signDocument(signer),
  keys: [new Certificate(signer).userId("maker").armor()],
  profile: "terraform",
  now,
};

/** A key of numbers that its private key does not compute with; a signature by it is well-formed. */
function askHostile(
  kind: "rsa2048" | "dsa",
  numbers: readonly Buffer[],
): SignatureQuestion {
  const { algorithm, privateKey } = forgeKey(lastYear, { kind });
  const material = Buffer.concat(numbers.map(mpi));
  const parts = { createdAt: lastYear, algorithm, material, privateKey };
  const key = wrapKey({ version: 4, ...parts });
  const keys = [new Certificate(key).userId("maker").armor()];
  return { ...good, signature: signDocument(key), keys };
}

const numberOf = (bits: number, octet: number) => Buffer.alloc(bits / 8, octet);

export function askHugeRsa(bits: number): SignatureQuestion {
  return askHostile("rsa2048", [numberOf(bits, 255), numberOf(bits, 255)]);
}

/** Within all limits, and minutes of arithmetic on any machine. */
export function askHugeDsa(): SignatureQuestion {
  // A prime, 2^44497 - 1: it has no divisor in common with any signature, which would end the arithmetic early.
  const prime = Buffer.concat([Buffer.of(1), Buffer.alloc(5562, 255)]);
  const [modulus, base, key] = [255, 3, 5].map((octet) =>
    numberOf(65_528, octet),
  );
  const numbers = [modulus, prime, base, key];
  return askHostile(
    "dsa",
    numbers.filter((one) => one !== undefined),
  );
}
