import { ECDH } from "node:crypto";

export type CurveUse = "ecdsa" | "eddsa" | "ecdh";

export interface Curve {
  readonly uses: readonly CurveUse[];
  /**
   * Size of a point with its leading octet, for curves with points of one size.
   */
  readonly pointOctets?: number;
  /** OpenSSL's name, for the check that a point is on the curve. */
  readonly name?: string;
  /** Octets of each number of an ECDSA signature. */
  readonly orderOctets?: number;
}

const weierstrass = (name: string, orderOctets: number): Curve => ({
  uses: ["ecdsa", "ecdh"],
  ...{ name, orderOctets },
});

/** Curves by object identifier, in hexadecimal. */
export const curves: Readonly<Record<string, Curve>> = {
  "2A8648CE3D030107": weierstrass("prime256v1", 32),
  "2B81040022": weierstrass("secp384r1", 48),
  "2B81040023": weierstrass("secp521r1", 66),
  "2B8104000A": weierstrass("secp256k1", 32),
  "2B2403030208010107": weierstrass("brainpoolP256r1", 32),
  "2B240303020801010B": weierstrass("brainpoolP384r1", 48),
  "2B240303020801010D": weierstrass("brainpoolP512r1", 64),
  "2B060104019755010501": { uses: ["ecdh"], pointOctets: 33 },
  "2B656F": { uses: ["ecdh"], pointOctets: 57 },
  "2B06010401DA470F01": { uses: ["eddsa"], pointOctets: 33 },
  "2B6571": { uses: ["eddsa"], pointOctets: 58 },
};
export const legacy25519 = ["2B060104019755010501", "2B06010401DA470F01"];

/** Checks for an uncompressed point of the curve with this OpenSSL name. */
export function isOnCurve(point: Uint8Array, curve: string): boolean {
  if (point[0] !== 4) return false;
  try {
    ECDH.convertKey(point, curve);
    return true;
  } catch {
    return false;
  }
}
