/** Forms of the keys and signatures of one public key algorithm. */
interface Algorithm {
  /** Numbers of a key; curves have fields of their own. */
  readonly keyNumbers?: number;
  /** Octets of a key without fields. */
  readonly keyOctets?: number;
  /** Numbers of a signature; absent where the algorithm makes none. */
  readonly signatureNumbers?: number;
  /** Octets of a signature without numbers. */
  readonly signatureOctets?: number;
}

/** Public key algorithms by number (RFC 9580, 9.1). */
export const algorithms: Readonly<Record<number, Algorithm>> = {
  // RSA; 2 is for encryption alone.
  1: { keyNumbers: 2, signatureNumbers: 1 },
  2: { keyNumbers: 2 },
  3: { keyNumbers: 2, signatureNumbers: 1 },
  // ElGamal, DSA.
  16: { keyNumbers: 3 },
  17: { keyNumbers: 4, signatureNumbers: 2 },
  // ECDH, ECDSA, legacy EdDSA.
  18: {},
  19: { signatureNumbers: 2 },
  22: { signatureNumbers: 2 },
  // X25519, X448, Ed25519, Ed448.
  25: { keyOctets: 32 },
  26: { keyOctets: 56 },
  27: { keyOctets: 32, signatureOctets: 64 },
  28: { keyOctets: 57, signatureOctets: 114 },
};

export function canSign(algorithm: number): boolean {
  const { signatureNumbers, signatureOctets } = algorithms[algorithm] ?? {};
  return signatureNumbers !== undefined || signatureOctets !== undefined;
}

interface Hash {
  /** Node's name. */
  readonly name: string;
  /** Octets of a version 6 signature's salt; absent where there is none. */
  readonly saltOctets?: number;
}

/** Hash algorithms by number (RFC 9580, 9.5). */
export const hashes: Readonly<Record<number, Hash>> = {
  2: { name: "sha1" },
  8: { name: "sha256", saltOctets: 16 },
  9: { name: "sha384", saltOctets: 24 },
  10: { name: "sha512", saltOctets: 32 },
  11: { name: "sha224", saltOctets: 16 },
  12: { name: "sha3-256", saltOctets: 16 },
  14: { name: "sha3-512", saltOctets: 32 },
};
export const sha1 = 2;
