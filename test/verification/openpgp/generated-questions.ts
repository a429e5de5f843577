import { Certificate, day, document, lastYear, today } from "./certificates.ts";
import { keyKinds } from "./forge-material.ts";
import {
  armor,
  forgeKey,
  forgeSignature,
  issuerFingerprint,
  issuerKeyId,
  keyFlags,
  notation,
  number,
  packet,
  revocationReason,
  seconds,
  type ForgedKey,
  type ForgedSignature,
  type Subpacket,
} from "./forge.ts";
import { mutateOctets, mutateText } from "./mutations.ts";
import type { Random } from "./random.ts";

export interface Question {
  readonly keys: readonly string[];
  readonly document: Buffer;
  readonly signature: Buffer;
  /** Faults that were put into its packets. */
  readonly faults: readonly string[];
}

/** Keys to choose from, since some take long to make. */
export class QuestionSource {
  readonly #random: Random;
  readonly #keys: readonly ForgedKey[];

  constructor(random: Random) {
    this.#random = random;
    const dates = [lastYear, lastYear, lastYear, lastYear, today + day];
    this.#keys = keyKinds.flatMap((kind) =>
      ([4, 4, 6] as const)
        .filter((version) => version === 4 || kind !== "eddsa")
        .map((version) => forgeKey(random.pick(dates), { version, kind })),
    );
  }

  /** A signature, and keys of which one made it in most cases; most of all that has a fault somewhere. */
  next(): Question {
    const random = this.#random;
    const primary = random.pick(this.#keys);
    const subkey = random.pick(this.#keys);
    const packets = this.#certify(primary, subkey).packets;
    const signer = random.oneIn(3) ? subkey : primary;
    const signatures = [this.#sign(signer)];
    if (random.oneIn(8))
      signatures.unshift(this.#sign(random.pick(this.#keys)));
    const other = this.#certify(random.pick(this.#keys), subkey);
    if (random.oneIn(8)) packets.push(...other.packets);
    if (random.oneIn(12)) packets.unshift(...other.packets);
    const target = random.below(6);
    const faults: string[] = [];
    const octets = target < 3 ? mutateOctets(random, packets, faults) : packets;
    const text = armor(Buffer.concat(octets));
    const signature =
      target === 3 ? mutateOctets(random, signatures, faults) : signatures;
    return {
      faults,
      keys: [
        ...(random.oneIn(20) ? [other.armor()] : []),
        target === 4 ? mutateText(random, text) : text,
      ],
      document: random.oneIn(30) ? Buffer.from("another\n") : textDocument,
      signature: Buffer.concat(signature),
    };
  }

  #certify(primary: ForgedKey, subkey: ForgedKey): Certificate {
    const random = this.#random;
    const certificate = new Certificate(primary);
    if (primary.version === 6 || random.oneIn(10))
      certificate.direct(0x1f, this.#describe(primary, 3));
    if (random.oneIn(20)) certificate.direct(0x20, this.#revoke(primary));
    for (let count = random.below(3); count >= 0; count--)
      this.#addUserId(certificate, `maker ${random.below(3)}`);
    if (random.oneIn(2)) this.#addSubkey(certificate, subkey);
    return certificate;
  }

  #addUserId(certificate: Certificate, id: string): void {
    const random = this.#random;
    certificate.packets.push(packet(13, Buffer.from(id)));
    for (let count = random.below(2); count >= 0; count--)
      certificate.onUserId(
        id,
        0x10 + random.below(4),
        this.#describe(certificate.primary, 3),
      );
    if (random.oneIn(6)) this.#addForeignCertification(certificate);
    if (random.oneIn(15))
      certificate.onUserId(id, 0x30, this.#revoke(certificate.primary));
  }

  #addForeignCertification({ packets }: Certificate): void {
    const random = this.#random;
    const forged = { type: 0x10, createdAt: lastYear };
    const key = random.pick(this.#keys);
    packets.push(packet(2, forgeSignature(key, random.bytes(10), forged)));
  }

  #addSubkey(certificate: Certificate, subkey: ForgedKey): void {
    const random = this.#random;
    certificate.signingSubkey(
      subkey,
      this.#describe(certificate.primary, 2),
      random.oneIn(20) ? { createdAt: today + day } : {},
    );
    if (random.oneIn(15))
      certificate.onSubkey(subkey, 0x28, this.#revoke(certificate.primary));
  }

  #revoke(key: ForgedKey): Partial<ForgedSignature> {
    const random = this.#random;
    const subpackets = [revocationReason(random.below(5))];
    if (random.oneIn(3)) subpackets.push(seconds(3, 1 + random.below(900)));
    const createdAt = random.pick([lastYear, lastYear, today + day]);
    return { createdAt, subpackets, hash: this.#hash(key) };
  }

  /** A self-signature or binding, with what may stand in it. */
  #describe(key: ForgedKey, flags: number): Partial<ForgedSignature> {
    const random = this.#random;
    const subpackets: Subpacket[] = [];
    if (!random.oneIn(12))
      subpackets.push(keyFlags(random.oneIn(20) ? 1 : flags));
    if (random.oneIn(8)) subpackets.push(seconds(9, random.pick(lifetimes)));
    if (random.oneIn(12)) subpackets.push(seconds(3, random.pick(lifetimes)));
    if (random.oneIn(8))
      subpackets.push({ type: 25, content: Buffer.of(random.below(2)) });
    if (random.oneIn(20)) subpackets.push(this.#odd());
    const createdAt = lastYear + random.below(3) * day;
    const isLate = random.oneIn(20);
    return {
      createdAt: isLate ? today + day : createdAt,
      subpackets,
      hash: this.#hash(key),
      ...this.#issuer(key),
    };
  }

  #sign(key: ForgedKey): Buffer {
    const random = this.#random;
    const subpackets = random.oneIn(12) ? [this.#odd()] : [];
    if (random.oneIn(10)) subpackets.push(seconds(3, random.pick(lifetimes)));
    return packet(
      2,
      forgeSignature(key, textDocument, {
        type: random.oneIn(20) ? 1 : 0,
        createdAt: today + (random.oneIn(20) ? 1 : -30) * day,
        subpackets,
        hash: this.#hash(key),
        ...this.#issuer(key),
      }),
    );
  }

  /** Hashed or not, once or twice, or another's. */
  #issuer(key: ForgedKey): Partial<ForgedSignature> {
    const random = this.#random;
    const other = random.oneIn(10) ? random.pick(this.#keys) : key;
    const issuers = [issuerKeyId(other), issuerFingerprint(other)];
    const unhashed = random.oneIn(3) ? [random.pick(issuers)] : [];
    const critical = random.oneIn(3);
    return {
      anonymous: random.oneIn(10),
      unhashed: unhashed.map((one) => ({ ...one, critical })),
    };
  }

  #hash({ version, algorithm }: ForgedKey): number {
    if (algorithm === 17) return this.#random.pick([2, 8, 11]);
    const hashes = [8, 8, 8, 9, 10, 11, 12, 14];
    return this.#random.pick(version === 6 ? hashes : [...hashes, 2]);
  }

  #odd(): Subpacket {
    const random = this.#random;
    const content = random.bytes(random.below(12));
    return random.pick([
      notation("a@example.com", random.oneIn(3)),
      { type: random.below(128), content, critical: random.oneIn(3) },
      { type: 4, content: Buffer.of(random.below(2)) },
      { type: 2, content: number(lastYear, 4) },
    ]);
  }
}

const lifetimes = [0, 1, 900 * day, 365 * day, 30 * day];
const textDocument = document;
